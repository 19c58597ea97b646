'use strict';
// Makes management requests one after the other and prints each answer as a line: node management.js PORT REQUESTS,
// REQUESTS being JSON, a list of [application-properties, body].

const rhea = require('rhea');

const [port, requests] = [Number(process.argv[2]), JSON.parse(process.argv[3])];
const connection = rhea.connect({ port, host: '127.0.0.1', reconnect: false });
const receiver = connection.open_receiver({ source: { dynamic: true } });
const sender = connection.open_sender('$management');
let asked = 0;

function ask() {
    if (asked === requests.length) {
        connection.close();
        return;
    }
    const [properties, body] = requests[asked];
    asked += 1;
    sender.send({ reply_to: receiver.source.address, correlation_id: asked, application_properties: properties, body });
}

let isReady = 0;
function readyWhenBothAre() {
    isReady += 1;
    if (isReady === 2) ask();
}

receiver.once('receiver_open', readyWhenBothAre);
sender.once('sendable', readyWhenBothAre);
receiver.on('message', ({ message }) => {
    const { statusCode, statusDescription } = message.application_properties;
    console.log(JSON.stringify([message.correlation_id, statusCode, statusDescription, message.body]));
    ask();
});
connection.on('disconnected', ({ error }) => {
    if (error) process.exit(1);
});
