"""Keys and tags that every router derives alike."""

from routerd.topics.names import ClientName
from routerd.topics.tags import delivery_tag, is_delivery_tag, key_of, publisher_key

NAME = ClientName("container", "link")


def test_the_key_is_the_begin_of_a_hash_of_both_names():
    assert publisher_key(NAME).hex() == "9b1d257ae628399a"
    assert publisher_key(ClientName("containerlink", "")) != publisher_key(NAME)


def test_a_short_tag_stands_in_the_delivery_tag():
    key = publisher_key(NAME)
    assert delivery_tag(key, b"t1") == key + b"\x02t1"
    assert key_of(delivery_tag(key, b"t1")) == key


def test_a_long_tag_is_hashed_so_that_the_delivery_tag_has_no_more_than_32_octets():
    key = publisher_key(NAME)
    long, other = delivery_tag(key, b"x" * 24), delivery_tag(key, b"x" * 25)
    assert (len(long), long[8], long != other) == (32, 0xFF, True)
    assert len(delivery_tag(key, b"x" * 23)) == 32


def test_the_form_of_a_delivery_tag_is_known():
    key = publisher_key(NAME)
    tags = [delivery_tag(key, b""), delivery_tag(key, b"x" * 23), delivery_tag(key, b"x" * 30)]
    assert [is_delivery_tag(tag) for tag in tags] == [True, True, True]
    foreign = [b"", key, key + b"\x02t", key + b"\xfft", key + bytes([24]) + b"x" * 24]
    assert [is_delivery_tag(tag) for tag in foreign] == [False] * 5
