"""Ask `examples/service.py` to double numbers, without asyncio: `python examples/ask.py amqp://localhost 20 one`."""

import sys

from mobula_client import MessageRejected
from mobula_client.blocking import connect


def main(url: str, words: list[str]) -> None:
    """Print what the service makes of each word."""
    with connect(url) as client, client.open_requester("double") as service:
        for word in words:
            try:
                print(service.request(int(word) if word.isdigit() else word).body)
            except MessageRejected as error:
                print(error.description)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
