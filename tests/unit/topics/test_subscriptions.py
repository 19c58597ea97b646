"""The table of subscriptions: in order of names, with what the lists of their hosts say of them."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.topics.claims import Claim
from routerd.topics.names import ClientName, Place
from routerd.topics.subscriptions import Homes, Member, Subscription, Subscriptions

MOST = 3
NAME, OTHER = ClientName("S", "link"), ClientName("T", "link")
HERE, THERE = Place("A", 1), Place("B", 1)


def claim(ms):
    return Claim(1, ms, 0, "A")


def subscription(name=NAME, ms=5, host=HERE, epoch=None):
    return Subscription(name, epoch or claim(ms), claim(ms), host, True, 60.0, True, False)


def table(*subscriptions):
    made = Subscriptions(MOST, Homes())
    for each in subscriptions:
        made.put(each)
    return made


@pytest.mark.parametrize("is_ready", [False, True])
@pytest.mark.parametrize("is_durable", [False, True])
@pytest.mark.parametrize("has_map", [False, True])
@pytest.mark.parametrize("is_attached", [False, True])
def test_a_subscription_is_what_it_was_before(is_ready, is_durable, is_attached, has_map):
    """The numbers are the largest that clients and routers may say."""
    most = (1 << 62) - 1
    later = Claim(most, most, most, "elsewhere")
    before = Subscription(NAME, claim(4), later, THERE, is_ready, 0.5, is_durable, has_map, most, is_attached)
    after = table(before)[NAME]
    assert (after, after.order, after.is_listed) == (before, (claim(4), later), True)


def test_it_is_known_whether_any_subscriber_has_a_map():
    first, second = ClientName("first", "link"), ClientName("second", "link")

    def subscription(name, ms, has_map):
        return Subscription(name, claim(ms), claim(ms), HERE, True, 60.0, True, has_map)

    made = table(subscription(first, 1, True), subscription(second, 1, True))
    made.make_ready(first)
    made.remove(first)
    assert made.have_maps
    made.put(subscription(second, 2, False))
    assert not made.have_maps
    made.put(subscription(first, 3, True))
    made.remove(second)
    assert made.have_maps
    made.remove(first)
    assert not made.have_maps


def test_a_subscription_can_become_ready():
    made = table(Subscription(NAME, claim(4), claim(4), HERE, False, 60.0, True, False))
    made.make_ready(NAME)
    assert made[NAME].is_ready


def test_equal_homes_are_kept_once_and_as_long_as_a_subscription_has_them():
    homes = Homes()
    tables = [Subscriptions(MOST, homes) for _ in range(2)]
    for each in tables:
        each.put(subscription())
        each.put(subscription(OTHER, host=THERE))
    assert len(homes) == 2
    for each in tables:
        each.put(subscription(ms=6, host=THERE))
        each.make_ready(OTHER)
    assert (len(homes), tables[1][NAME].host, tables[1][NAME].epoch.router) == (1, THERE, "A")
    for each in tables:
        each.remove(NAME)
        each.remove(OTHER)
    assert len(homes) == 0


def test_names_are_found_whatever_the_order_in_which_they_came():
    names = [ClientName(str(number), link) for number in range(20) for link in ("a", "b")]
    shuffled = list(names)
    Random(7).shuffle(shuffled)
    made = table(*map(subscription, shuffled))
    assert sorted(each.name for each in made) == sorted(names)
    assert [made[name].name for name in names] == names
    for name in names[::2]:
        made.remove(name)
    assert [name in made for name in names] == [False, True] * 20
    assert (len(made), made.get(ClientName("x", "a"))) == (20, None)
    with pytest.raises(KeyError):
        made[names[0]]


def test_the_required_version_of_a_host_has_all_its_subscribers():
    made = table(subscription(), subscription(OTHER, 6))
    made.enlist(HERE, NAME, Member(claim(5), 2, True))
    made.enlist(HERE, OTHER, Member(claim(6), 4, False))
    assert (made.required_versions(), made.versions()) == ({HERE: 4}, {HERE: 4})
    assert [each.is_attached for each in made] == [True, False]


def test_a_subscription_whose_host_has_not_listed_its_claim_holds_everything_up():
    made = table(subscription())
    assert (made.required_versions(), made.versions()) == (None, {})
    made.enlist(HERE, NAME, Member(claim(4), 2, True))
    assert (made.required_versions(), made.versions()) == (None, {HERE: 2})
    assert not made[NAME].is_attached


def test_a_list_that_is_told_before_the_subscription_counts():
    made = table()
    made.enlist(HERE, NAME, Member(claim(5), 2, True))
    assert (made.required_versions(), made.versions()) == ({}, {HERE: 2})
    made.put(subscription())
    assert (made.required_versions(), made[NAME].is_attached) == ({HERE: 2}, True)


def test_where_a_subscription_was_before_may_still_list_it():
    made = table(subscription())
    made.enlist(HERE, NAME, Member(claim(5), 2, True))
    made.put(subscription(ms=6, host=THERE))
    made.enlist(THERE, NAME, Member(claim(6), 9, True))
    assert (made.required_versions(), made.versions()) == ({THERE: 9}, {THERE: 9, HERE: 2})
    assert made.members(HERE) == {NAME: Member(claim(5), 2, True)}
    assert (made.has_member(HERE, NAME), made.has_member(THERE, NAME), made.has_member(HERE, OTHER)) == (
        *(True, True, False),
    )
    made.strike(HERE, NAME)
    assert (made.has_member(HERE, NAME), made.versions()) == (False, {THERE: 9})


def test_a_later_claim_at_the_same_host_waits_for_its_list():
    made = table(subscription())
    made.enlist(HERE, NAME, Member(claim(5), 2, True))
    made.put(subscription(ms=6, epoch=claim(5)))
    assert (made.required_versions(), made.members(HERE)) == (None, {NAME: Member(claim(5), 2, True)})
    made.enlist(HERE, NAME, Member(claim(6), 3, True))
    assert (made.required_versions(), made.members(HERE)) == ({HERE: 3}, {NAME: Member(claim(6), 3, True)})


def test_a_list_may_tell_a_later_claim_before_the_subscription_does():
    made = table(subscription())
    made.enlist(HERE, NAME, Member(claim(5), 2, True))
    made.enlist(HERE, NAME, Member(claim(6), 3, True))
    assert (made.required_versions(), made.members(HERE)) == (None, {NAME: Member(claim(6), 3, True)})
    made.put(subscription(ms=6, epoch=claim(5)))
    assert (made.required_versions(), made.members(HERE)) == ({HERE: 3}, {NAME: Member(claim(6), 3, True)})


def test_an_ended_subscription_is_on_its_list_until_its_host_strikes_it():
    made = table(subscription())
    made.enlist(HERE, NAME, Member(claim(5), 2, True))
    made.remove(NAME)
    assert (made.required_versions(), made.versions()) == ({}, {HERE: 2})
    made.strike(HERE, NAME)
    assert made.versions() == {}


def test_a_host_that_strikes_a_subscription_holds_everything_up():
    made = table(subscription())
    made.enlist(HERE, NAME, Member(claim(5), 2, True))
    made.strike(THERE, NAME)
    assert made.required_versions() == {HERE: 2}
    made.strike(HERE, NAME)
    assert (made.required_versions(), made[NAME].is_attached) == (None, False)


def test_a_list_can_begin_anew():
    made = table(subscription(), subscription(OTHER, host=THERE))
    for place, name in ((HERE, NAME), (HERE, OTHER), (THERE, OTHER)):
        made.enlist(place, name, Member(claim(5), 2, True))
    made.begin_list(HERE)
    assert (made.members(HERE), made.members(THERE)) == ({}, {OTHER: Member(claim(5), 2, True)})
    assert made.required_versions() is None


def test_lists_of_earlier_lives_of_a_router_end():
    later = Place("A", 2)
    made = table(subscription(), subscription(OTHER, host=later))
    for place, name in ((HERE, NAME), (later, OTHER), (HERE, ClientName("U", "link"))):
        made.enlist(place, name, Member(claim(5), 2, True))
    made.forget_places("B", None)
    assert made.versions() == {HERE: 2, later: 2}
    made.forget_places("A", later)
    assert (made.versions(), made.required_versions()) == ({later: 2}, None)
    made.forget_places("A", None)
    assert made.versions() == {}


def test_what_hosts_list_beside_the_subscriptions_is_bounded():
    made = table()
    for number in range(MOST + 2):
        made.enlist(HERE, ClientName(str(number), "link"), Member(claim(5), number, True))
    made.enlist(HERE, ClientName("0", "link"), Member(claim(5), 9, True))
    assert sorted(each.since for each in made.members(HERE).values()) == [1, 2, 9]


def test_who_is_away_is_forgotten_with_what_is_known_of_it():
    made = table(subscription())
    made.away[NAME] = 5.0
    made.put(subscription(ms=6))
    assert made.away == {}


def test_absent_are_those_that_are_not_attached_at_a_host_in_reach():
    made = table(subscription(), subscription(OTHER, host=THERE), subscription(ClientName("U", "link")))
    made.enlist(HERE, NAME, Member(claim(5), 2, True))
    made.enlist(THERE, OTHER, Member(claim(5), 2, True))
    assert [each.name.container for each in made.absent(lambda place: True)] == ["U"]
    assert [each.name.container for each in made.absent(lambda place: place == HERE)] == ["T", "U"]


def test_names_that_read_alike_are_different():
    names = [ClientName("a", "bc"), ClientName("ab", "c"), ClientName("1:a", "b"), ClientName("", "1:ab")]
    made = table(*map(subscription, names))
    assert {each.name for each in made} == set(names)


class Plain:
    """The same, as dicts: of subscriptions by name, and of the members of each list."""

    def __init__(self):
        self.subscriptions = {}
        self.lists = {}

    def put(self, subscription):
        self.subscriptions[subscription.name] = subscription

    def remove(self, name):
        self.subscriptions.pop(name, None)

    def begin_list(self, place):
        self.lists[place] = {}

    def enlist(self, place, name, member):
        self.lists.setdefault(place, {})[name] = member

    def strike(self, place, name):
        self.lists.get(place, {}).pop(name, None)

    def forget_places(self, router, but):
        self.lists = {place: each for place, each in self.lists.items() if place.router != router or place == but}

    def member_of(self, each):
        member = self.lists.get(each.host, {}).get(each.name)
        return member if member is not None and member.claim == each.claim else None

    def required_versions(self):
        required = {}
        for each in self.subscriptions.values():
            member = self.member_of(each)
            if member is None:
                return None
            required[each.host] = max(required.get(each.host, 0), member.since)
        return required

    def attached(self):
        members = {name: self.member_of(each) for name, each in self.subscriptions.items()}
        return {name for name, each in members.items() if each is not None and each.is_attached}


NAMES = st.sampled_from([NAME, OTHER])
PLACES = st.sampled_from([HERE, THERE, Place("A", 2)])
CLAIMS = st.integers(1, 3).map(claim)
MEMBERS = st.builds(Member, CLAIMS, st.integers(1, 9), st.booleans())
PUT = st.builds(lambda name, ms, host: ("put", subscription(name, ms, host)), NAMES, st.integers(1, 3), PLACES)
STEPS = st.one_of(
    PUT,
    st.tuples(st.just("remove"), NAMES),
    st.tuples(st.just("begin_list"), PLACES),
    st.tuples(st.just("enlist"), PLACES, NAMES, MEMBERS),
    st.tuples(st.just("strike"), PLACES, NAMES),
    st.tuples(st.just("forget_places"), st.sampled_from("AB"), st.none() | PLACES),
)


@given(st.lists(STEPS, max_size=12))
def test_the_table_says_what_dicts_would_say(steps):
    made, plain = table(), Plain()
    for what, *values in steps:
        getattr(made, what)(*values)
        getattr(plain, what)(*values)
        assert made.required_versions() == plain.required_versions()
        assert {each.name for each in made if each.is_attached} == plain.attached()
        for place in (HERE, THERE, Place("A", 2)):
            members = plain.lists.get(place, {})
            assert made.members(place) == members
            assert [made.has_member(place, name) for name in (NAME, OTHER)] == [
                name in members for name in (NAME, OTHER)
            ]
        newest = {
            place: max(each.since for each in members.values()) for place, members in plain.lists.items() if members
        }
        assert made.versions() == newest
