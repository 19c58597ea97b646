"""SCRAM against the examples of its RFCs, and the two roles against each other."""

import base64
import hashlib
import hmac

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.wire.errors import ValueRangeError
from routerd.wire.sasl import (
    SCRAM_MECHANISMS,
    AuthenticationUnavailable,
    Challenge,
    Failure,
    SaslClient,
    SaslCode,
    SaslFailed,
    SaslServer,
    ScramClient,
    ScramCredentials,
    ScramServer,
    Success,
    prepared,
)
from routerd.wire.sasl.scram_credentials import ScramDecoys

SECRET = b"0123456789abcdef"
CLIENT_NONCE = "fyko+d2lbbFgONRv9qkxdawL"
SERVER_NONCE = "3rfcNHYJY1ZVvWVs7j"

RFC_5802 = (
    "SCRAM-SHA-1",
    (CLIENT_NONCE, SERVER_NONCE),
    "QSXCR+Q6sek8bf92",
    (
        b"n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
        b"r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
        b"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
        b"v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",
    ),
)
RFC_7677 = (
    "SCRAM-SHA-256",
    ("rOprNGfwEbeRWgbNEkqO", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"),
    "W22ZaJ0SNY7soEsUEjb6gQ==",
    (
        b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
    ),
)
EXAMPLES = pytest.mark.parametrize(
    ("mechanism", "nonces", "salt", "messages"), [RFC_5802, RFC_7677], ids=["RFC 5802", "RFC 7677"]
)


def server_of(mechanism, users, *, nonce=SERVER_NONCE, **options):
    return ScramServer(mechanism, users.get, ScramDecoys(SECRET), lambda: nonce, **options)


def client_of(mechanism, password="pencil", *, username="user", nonce=CLIENT_NONCE, **options):
    return ScramClient(mechanism, username, password, lambda: nonce, **options)


def stored(mechanism, password="pencil", salt=b"salt of 16 octet"):
    return ScramCredentials.derive(mechanism, password, salt=salt)


def run(server, client):
    """Hand the frames of one to the other until both are done; return how many frames it took."""
    to_client, frames = server.start(), 0
    while to_client:
        frames += len(to_client)
        to_server = [answer for frame in to_client for answer in client.receive(frame)]
        frames += len(to_server)
        to_client = [answer for frame in to_server for answer in server.receive(frame)]
    return frames


def by_hand(mechanism, password, salt, iterations, client_first_bare, server_first, without_proof):
    """Return the client's proof and the server's, computed as RFC 5802 section 3 has it."""
    digest = mechanism.removeprefix("SCRAM-").replace("SHA-", "sha")
    salted = hashlib.pbkdf2_hmac(digest, password.encode(), salt, iterations)
    client_key = hmac.digest(salted, b"Client Key", digest)
    stored_key = hashlib.new(digest, client_key).digest()
    server_key = hmac.digest(salted, b"Server Key", digest)
    message = b",".join([client_first_bare, server_first, without_proof])
    signature = hmac.digest(stored_key, message, digest)
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    return base64.b64encode(proof), base64.b64encode(hmac.digest(server_key, message, digest))


@EXAMPLES
def test_a_client_says_what_the_example_says(mechanism, nonces, salt, messages):
    first, server_first, final, server_final = messages
    client = client_of(mechanism, nonce=nonces[0]).start("host")
    assert client.initial_response() == first
    assert client.respond(server_first) == final
    client.finish(server_final)


@EXAMPLES
def test_a_server_says_what_the_example_says(mechanism, nonces, salt, messages):
    first, server_first, final, server_final = messages
    users = {"user": stored(mechanism, salt=base64.b64decode(salt))}
    server = server_of(mechanism, users, nonce=nonces[1]).start("host")
    assert server.step(first) == Challenge(server_first)
    assert server.step(final) == Success("user", server_final)


@pytest.mark.parametrize("mechanism", SCRAM_MECHANISMS)
def test_the_proofs_are_those_of_the_standard(mechanism):
    salt = b"salt of 16 octet"
    server = server_of(mechanism, {"user": stored(mechanism)}).start(None)
    client = client_of(mechanism).start(None)
    first = client.initial_response()
    server_first = server.step(first).data
    final = client.respond(server_first)
    without_proof, _, proof = final.rpartition(b",p=")
    proofs = by_hand(mechanism, "pencil", salt, 4096, first.removeprefix(b"n,,"), server_first, without_proof)
    assert (proof, server.step(final)) == (proofs[0], Success("user", b"v=" + proofs[1]))


@pytest.mark.parametrize("mechanism", SCRAM_MECHANISMS)
@pytest.mark.parametrize(("proof_in_outcome", "frames"), [(True, 5), (False, 7)])
def test_client_and_server_agree(mechanism, proof_in_outcome, frames):
    server = SaslServer([server_of(mechanism, {"user": stored(mechanism)}, proof_in_outcome=proof_in_outcome)])
    client = SaslClient([client_of(mechanism)])
    assert run(server, client) == frames
    assert (server.outcome, server.identity, client.outcome) == (SaslCode.OK, "user", SaslCode.OK)


def test_a_client_without_initial_response_is_asked_for_it():
    server = server_of("SCRAM-SHA-1", {"user": stored("SCRAM-SHA-1")}).start(None)
    assert server.step(None) == Challenge(b"")
    assert isinstance(server.step(b"n,,n=user,r=" + CLIENT_NONCE.encode()), Challenge)


@pytest.mark.parametrize("mechanism", SCRAM_MECHANISMS)
def test_a_wrong_password_fails(mechanism):
    server = SaslServer([server_of(mechanism, {"user": stored(mechanism)})])
    client = SaslClient([client_of(mechanism, "pencils")])
    run(server, client)
    assert (server.outcome, server.identity, client.outcome) == (SaslCode.AUTH, None, SaslCode.AUTH)
    assert server.failure == Failure(f"{mechanism} of 'user': The client keys don't match.: invalid-proof")


def test_an_unknown_user_fails_after_the_same_frames_as_a_wrong_password():
    users = {"user": stored("SCRAM-SHA-256")}
    frames = []
    for username in ("user", "nobody"):
        server = SaslServer([server_of("SCRAM-SHA-256", users)])
        client = SaslClient([client_of("SCRAM-SHA-256", "wrong", username=username)])
        frames.append(run(server, client))
        assert (server.outcome, client.outcome) == (SaslCode.AUTH, SaslCode.AUTH)
    assert frames == [5, 5]
    assert server.failure == Failure(
        "SCRAM-SHA-256 of unknown user 'nobody': The client keys don't match.: invalid-proof"
    )


def challenge_for(username, secret=SECRET, mechanism="SCRAM-SHA-256"):
    server = ScramServer(mechanism, {}.get, ScramDecoys(secret, iterations=5000), lambda: SERVER_NONCE).start(None)
    nonce, salt, iterations = server.step(f"n,,n={username},r={CLIENT_NONCE}".encode()).data.split(b",")
    assert (nonce, iterations) == (f"r={CLIENT_NONCE}{SERVER_NONCE}".encode(), b"i=5000")
    return salt


def test_an_unknown_user_has_one_salt_of_its_own():
    salts = [challenge_for(name) for name in ("alice", "bob", "alice")]
    assert salts[0] == salts[2] != salts[1]
    assert len(base64.b64decode(salts[0].removeprefix(b"s="))) == 16


def test_the_salt_of_an_unknown_user_depends_on_secret_and_mechanism():
    salts = {
        challenge_for("alice"),
        challenge_for("alice", secret=b"another secret here"),
        challenge_for("alice", mechanism="SCRAM-SHA-1"),
    }
    assert len(salts) == 3


def test_names_are_prepared_before_they_are_looked_up():
    users = {"IX,=": stored("SCRAM-SHA-256")}
    server = SaslServer([server_of("SCRAM-SHA-256", users)])
    run(server, SaslClient([client_of("SCRAM-SHA-256", username="I\u00adX,=")]))
    assert server.identity == "IX,="


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (b"", "The client sent a malformed first message: other-error"),
        (b"\xff", "not UTF-8"),
        (b"n,,n=user", "Malformed client_first_bare message. Expected the attribute str to be one of "
         "['nr'] but found 'n': other-error"),
        (b"n,,n=us=er,r=x", "An '=' in a username must be followed by '3D', or  '2C': invalid-username-encoding"),
        (b"n,a=root,n=user,r=x", "The GS2 authzid must be empty: other-error"),
        (b"p=tls-unique,,n=user,r=x", "Received GS2 flag 'p' which indicates that the client requires channel "
         "binding, but the server does not: channel-binding-not-supported"),
    ],
)  # fmt: skip
def test_a_first_message_that_is_none_fails(message, reason):
    server = server_of("SCRAM-SHA-256", {"user": stored("SCRAM-SHA-256")}).start(None)
    assert server.step(message) == Failure(f"SCRAM-SHA-256 of a client: {reason}")


@pytest.mark.parametrize("message", [b"", b"\xff", b"c=biws,r=x,p=", b"c=!,r=x,p=AAAA", b"c=biws,r=other,p=AAAA"])
def test_a_final_message_that_is_none_fails(message):
    server = server_of("SCRAM-SHA-256", {"user": stored("SCRAM-SHA-256")}).start(None)
    server.step(b"n,,n=user,r=" + CLIENT_NONCE.encode())
    step = server.step(message)
    assert isinstance(step, Failure)
    assert step.reason.startswith("SCRAM-SHA-256 of 'user': ")


def test_the_answer_to_the_proof_is_empty():
    server = server_of("SCRAM-SHA-1", {"user": stored("SCRAM-SHA-1")}, proof_in_outcome=False).start(None)
    client = client_of("SCRAM-SHA-1").start(None)
    proof = server.step(client.respond(server.step(client.initial_response()).data))
    assert proof.data.startswith(b"v=")
    assert client.respond(proof.data) == b""
    assert server.step(b"?") == Failure("SCRAM-SHA-1 of 'user': the answer to the server's proof is not empty")


def test_credentials_that_cannot_be_asked_for_are_told_so():
    def unavailable(username):
        raise AuthenticationUnavailable(f"cannot look up {username}", SaslCode.SYS_PERM)

    server = SaslServer([ScramServer("SCRAM-SHA-1", unavailable, ScramDecoys(SECRET), lambda: SERVER_NONCE)])
    client = SaslClient([client_of("SCRAM-SHA-1")])
    run(server, client)
    assert (server.failure, client.outcome) == (Failure("cannot look up user", SaslCode.SYS_PERM), SaslCode.SYS_PERM)


def test_a_mistake_of_the_callback_is_not_hidden():
    server = ScramServer("SCRAM-SHA-1", {}.__getitem__, ScramDecoys(SECRET), lambda: SERVER_NONCE).start(None)
    with pytest.raises(KeyError, match=r"^'user'$"):
        server.step(b"n,,n=user,r=" + CLIENT_NONCE.encode())


SERVER_FIRST = RFC_5802[3][1]


def test_a_server_without_proof_is_not_believed():
    client = client_of("SCRAM-SHA-1").start(None)
    client.initial_response()
    client.respond(SERVER_FIRST)
    with pytest.raises(SaslFailed, match=r"^the server did not prove that it knows the password$"):
        client.finish(None)


@pytest.mark.parametrize("data", [None, b"v=rmF9pqV8S7suAoZWja4dJRkFsKQ="])
def test_a_server_that_accepts_before_it_saw_a_proof_is_not_believed(data):
    client = client_of("SCRAM-SHA-1").start(None)
    client.initial_response()
    with pytest.raises(SaslFailed, match="did not prove"):
        client.finish(data)


@pytest.mark.parametrize("data", [b"", b"\xff", b"e=invalid-proof", b"v=AAAA", b"v=!", b"r=1"])
def test_a_server_with_a_false_proof_is_not_believed(data):
    client = client_of("SCRAM-SHA-1").start(None)
    client.initial_response()
    client.respond(SERVER_FIRST)
    with pytest.raises(SaslFailed):
        client.finish(data)


def test_a_proof_in_a_challenge_is_enough_whatever_comes_with_the_outcome():
    client = client_of("SCRAM-SHA-1").start(None)
    client.initial_response()
    client.respond(SERVER_FIRST)
    assert client.respond(RFC_5802[3][3]) == b""
    client.finish(None)
    client.finish(b"more")


def test_a_challenge_after_the_proof_is_refused():
    client = client_of("SCRAM-SHA-1").start(None)
    client.initial_response()
    client.respond(SERVER_FIRST)
    client.respond(RFC_5802[3][3])
    with pytest.raises(SaslFailed, match="already finished"):
        client.respond(RFC_5802[3][3])


@pytest.mark.parametrize(
    "challenge",
    [
        b"",
        b"\xff",
        b"r=someone else's,s=QSXCR+Q6sek8bf92,i=4096",
        b"r=fyko+d2lbbFgONRv9qkxdawL,s=QSXCR+Q6sek8bf92,i=4096",
        SERVER_FIRST.replace(b"i=4096", b"i=1"),
        SERVER_FIRST.replace(b"s=QSXC", b"s=QS!C"),
        b"e=unknown-user",
    ],
)
def test_a_first_challenge_that_is_none_is_refused(challenge):
    client = client_of("SCRAM-SHA-1").start(None)
    client.initial_response()
    with pytest.raises(SaslFailed):
        client.respond(challenge)


def test_a_server_cannot_keep_the_client_computing():
    client = client_of("SCRAM-SHA-1", iterations_max=5000).start(None)
    client.initial_response()
    with pytest.raises(SaslFailed, match=r"^the server asks for 5001 iterations; 5000 is the most$"):
        client.respond(SERVER_FIRST.replace(b"i=4096", b"i=5001,x=i=1"))


@given(username=st.text(max_size=12), password=st.text(max_size=12))
@settings(deadline=None, max_examples=25)
def test_every_name_and_password_that_scram_allows_gets_in(username, password):
    try:
        ready = client_of("SCRAM-SHA-1", password, username=username)
        users = stored("SCRAM-SHA-1", password)
    except ValueRangeError:
        return
    server = SaslServer([ScramServer("SCRAM-SHA-1", lambda name: users, ScramDecoys(SECRET), lambda: SERVER_NONCE)])
    client = SaslClient([ready])
    run(server, client)
    assert (server.outcome, client.outcome) == (SaslCode.OK, SaslCode.OK)


def test_stored_credentials_check_a_password():
    credentials = stored("SCRAM-SHA-512")
    assert credentials.matches("SCRAM-SHA-512", "pencil")
    assert not credentials.matches("SCRAM-SHA-512", "pencils")
    assert not credentials.matches("SCRAM-SHA-256", "pencil")
    assert not credentials.matches("SCRAM-SHA-512", "\ud800")


def test_no_repr_tells_a_secret():
    texts = [
        repr(ScramCredentials(b"salt of 16 octet", b"stored", b"server", 4096)),
        repr(ScramDecoys(SECRET)),
        repr(client_of("SCRAM-SHA-1")),
        repr(server_of("SCRAM-SHA-1", {})),
    ]
    assert texts == [
        "ScramCredentials(salt=b'salt of 16 octet', iterations=4096)",
        "ScramDecoys(iterations=4096, salt_octets=16)",
        "ScramClient(name='SCRAM-SHA-1', username='user', iterations_max=1000000)",
        "ScramServer(name='SCRAM-SHA-1', decoys=ScramDecoys(iterations=4096, salt_octets=16), proof_in_outcome=True)",
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda: server_of("SCRAM-MD5", {}),
        lambda: client_of("PLAIN"),
        lambda: client_of("SCRAM-SHA-1", username=""),
        lambda: client_of("SCRAM-SHA-1", "\u0007"),
        lambda: stored("SCRAM-SHA-1", "\u0007"),
        lambda: stored("SCRAM-MD4"),
        lambda: stored("SCRAM-SHA-1", salt=b"short"),
        lambda: ScramCredentials(b"short", b"", b"", 4096),
        lambda: ScramCredentials(b"salt of 16 octet", b"", b"", 4095),
        lambda: ScramCredentials(b"salt of 16 octet", b"", b"", 10_000_001),
        lambda: ScramDecoys(b"short"),
        lambda: ScramDecoys(SECRET, salt_octets=11),
        lambda: client_of("SCRAM-SHA-1", nonce="too short").start(None),
        lambda: server_of("SCRAM-SHA-1", {}, nonce="a,b,c,d,e,f,g,h,i,j").start(None),
        lambda: server_of("SCRAM-SHA-1", {}, nonce="non-printable \x7f....").start(None),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_made(make):
    with pytest.raises(ValueRangeError):
        make()


# Names and passwords as they are compared


def test_a_name_is_prepared():
    assert prepared("I\u00adX \u2168\u00a0") == "IX IX "


@pytest.mark.parametrize("text", ["a\0", "\u0627a", "\ue000"])
def test_a_text_that_cannot_be_prepared_is_refused(text):
    with pytest.raises(ValueRangeError, match="no name or password can be like this"):
        prepared(text)


def test_a_client_is_called_by_the_name_that_was_prepared():
    credentials = ScramCredentials.derive("SCRAM-SHA-1", "pencil", salt=b"s" * 16)
    server = ScramServer("SCRAM-SHA-1", {"IX": credentials}.get, ScramDecoys(b"k" * 32), lambda: "n" * 20).start(None)
    client = ScramClient("SCRAM-SHA-1", "\u2168", "pencil", lambda: "c" * 20).start(None)
    final = client.respond(server.step(client.initial_response()).data)
    assert server.step(final).identity == "IX"


def test_a_name_that_cannot_be_prepared_is_refused():
    server = ScramServer("SCRAM-SHA-1", {}.get, ScramDecoys(b"k" * 32), lambda: "n" * 20).start(None)
    assert isinstance(server.step(b"n,,n=a\x07,r=" + b"c" * 20), Failure)
