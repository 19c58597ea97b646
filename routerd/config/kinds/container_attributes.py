"""What `linkRoute` and `autoLink` sections have in common: which container they mean."""

from routerd.config.entity import Entity

BOTH_PLACES = "Both connection and containerId cannot be specified. Specify only one"


def check_one_place(entity: Entity) -> None:
    """See to it that the container is named in one way at most."""
    if entity.values["connection"] is not None and entity.values["containerId"] is not None:
        entity.refuse("containerId", BOTH_PLACES, "one of them")
