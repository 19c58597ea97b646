"""Attributes as given make an entity, or the problems say what is wrong with each."""

from dataclasses import replace

from routerd.management import ENTITY_TYPES, SECTIONS, Problem, check_entity

ADDRESS = ENTITY_TYPES["router.config.address"]
LISTENER = ENTITY_TYPES["listener"]
CONSOLE = ENTITY_TYPES["console"]
LOG = ENTITY_TYPES["log"]
ROUTER = ENTITY_TYPES["router"]


def test_defaults_stand_for_what_is_not_given() -> None:
    checked = check_entity(ADDRESS, {"prefix": "a", "waypoint": "yes", "priority": None})
    assert checked.values == {
        "prefix": "a",
        "pattern": None,
        "distribution": "balanced",
        "waypoint": True,
        "ingressPhase": None,
        "egressPhase": None,
        "priority": None,
        "resendReleased": False,
        "delivery": None,
        "maxUnsettled": 10_000,
        "maxUnsettledOctets": 256 << 20,
        "subscriptionTimeout": 3600,
        "enableFallback": False,
        "name": None,
        "identity": None,
        "type": "org.apache.qpid.dispatch.router.config.address",
    }
    assert checked.given_as == {"prefix": "prefix", "waypoint": "waypoint"}
    assert (checked.problems, checked.notices) == ([], [])


def test_an_unknown_attribute_is_a_problem_that_names_the_close_one() -> None:
    [problem] = check_entity(ADDRESS, {"prefx": "a"}).problems
    assert problem == Problem(
        reason="Unknown attribute 'prefx' for 'org.apache.qpid.dispatch.router.config.address'",
        attribute="prefx",
        allowed=(
            *("prefix", "pattern", "distribution", "waypoint", "ingressPhase", "egressPhase", "priority"),
            *("resendReleased", "enableFallback", "delivery", "maxUnsettled", "maxUnsettledOctets"),
            *("subscriptionTimeout", "name", "type"),
        ),
        meant="prefix",
    )


def test_the_value_of_an_unknown_attribute_may_be_a_secret() -> None:
    [problem] = check_entity(LISTENER, {"saslPasswrd": "hunter2"}).problems
    assert problem.value is None


def test_a_missing_attribute_is_a_problem() -> None:
    assert check_entity(LOG, {}).problems == [
        Problem(reason="Missing required attribute 'module'", attribute="module", allowed=LOG.attributes["module"].tags)
    ]


def test_a_wrong_value_leaves_the_default() -> None:
    checked = check_entity(ADDRESS, {"prefix": "a", "distribution": "multicat"})
    assert checked.values["distribution"] == "balanced"
    assert checked.problems == [
        Problem(
            reason="Invalid value for enum['multicast', 'closest', 'balanced', 'unavailable']: 'multicat'",
            attribute="distribution",
            value="multicat",
            allowed=("multicast", "closest", "balanced", "unavailable"),
            meant="multicast",
        )
    ]


def test_an_old_name_is_understood_with_a_notice() -> None:
    checked = check_entity(ROUTER, {"helloInterval": "2"})
    assert checked.values["helloIntervalSeconds"] == 2
    assert checked.given_as == {"helloIntervalSeconds": "helloInterval"}
    assert checked.notices == [
        (
            "helloInterval",
            "Attribute 'helloInterval' of entity 'router' has been deprecated."
            " Use 'helloIntervalSeconds' instead",
        )
    ]


def test_an_old_name_beside_the_new_one_is_a_problem_in_either_order() -> None:
    reason = "Both 'logMessage' and 'messageLoggingComponents' cannot be specified"
    reason += " for entity 'org.apache.qpid.dispatch.listener'"
    allowed = ("'messageLoggingComponents' alone",)
    names = ["logMessage", "messageLoggingComponents"]
    for first, second in (names, reversed(names)):
        assert check_entity(LISTENER, {first: "all", second: "all"}).problems == [
            Problem(reason=reason, attribute=second, allowed=allowed)
        ]


def test_a_deprecated_attribute_is_told_of_where_there_is_no_other() -> None:
    assert check_entity(ROUTER, {"allowUnsettledMulticast": "yes"}).notices == [
        (
            "allowUnsettledMulticast",
            "Attribute 'allowUnsettledMulticast' of entity 'router' has been deprecated",
        )
    ]


def test_what_the_router_sets_itself_is_taken_without_effect() -> None:
    checked = check_entity(ROUTER, {"version": "9"})
    assert checked.problems == []
    assert checked.notices == [
        (
            "version",
            "Attribute 'version' of entity 'router' is set by the router."
            " What is given has no effect",
        )
    ]


UNSUPPORTED = replace(
    LISTENER,
    own_attributes=tuple(replace(LISTENER.attributes[name], is_supported=False) for name in ("http", "httpRootDir")),
)


def test_an_attribute_that_is_not_supported_yet_may_have_its_default() -> None:
    assert check_entity(UNSUPPORTED, {"http": "no", "httpRootDir": None}).problems == []


def test_an_attribute_that_is_not_supported_yet_is_refused_otherwise() -> None:
    assert check_entity(UNSUPPORTED, {"http": "yes", "httpRootDir": "p"}).problems == [
        Problem(
            reason="'http' is not supported yet",
            attribute="http",
            value="yes",
            allowed=("leave it out, or no",),
        ),
        Problem(
            reason="'httpRootDir' is not supported yet", attribute="httpRootDir", value="p", allowed=("leave it out",)
        ),
    ]


def test_a_value_that_is_not_supported_yet_is_refused() -> None:
    role = replace(LISTENER.attributes["role"], unsupported_tags=("route-container",))
    listener = replace(LISTENER, own_attributes=(role,))
    assert check_entity(listener, {"role": "2"}).problems == [
        Problem(
            reason="'route-container' is not supported yet",
            attribute="role",
            value="2",
            allowed=("normal", "inter-router", "edge"),
        )
    ]


def test_an_entity_that_is_not_supported_yet_is_checked_and_refused() -> None:
    assert check_entity(CONSOLE, {"home": "a"}).problems == [
        Problem(reason="Missing required attribute 'proxy'", attribute="proxy"),
        Problem(
            reason="'console' is not supported yet",
            allowed=tuple(name for name, one in SECTIONS.items() if one.is_supported),
        ),
    ]


def test_a_secret_is_in_no_problem() -> None:
    connector = ENTITY_TYPES["connector"]
    [problem] = check_entity(connector, {"saslPassword": "hunter2\0"}).problems
    assert problem == Problem(reason="the text contains NUL", attribute="saslPassword")


def test_the_type_may_be_given_in_each_of_its_forms() -> None:
    for name in ("org.apache.qpid.dispatch.router.config.address", "router.config.address", "address"):
        assert check_entity(ADDRESS, {"type": name}).problems == []


def test_another_type_is_a_problem() -> None:
    assert check_entity(ADDRESS, {"type": "listener"}).problems == [
        Problem(
            reason="'listener' is not the type of this entity",
            attribute="type",
            value="listener",
            allowed=("org.apache.qpid.dispatch.router.config.address",),
        )
    ]
