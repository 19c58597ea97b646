'use strict';
// An AMQP peer built on rhea, for interop tests: `node peer.js client|server SCENARIO [OPTIONS]`.
// It takes the options, and prints the facts, of ../peers/proton_peer.py; see ../README.md.

const fs = require('fs');
const rhea = require('rhea');
const { WebSocket } = require('ws');
const { OUTCOMES, Receiving, Sending, errorFact } = require('./links.js');
const { ResumedReceiving, ResumedSending } = require('./recovery.js');
const { HASHES, ScramClient, ScramServer } = require('./scram.js');

const SCENARIOS = ['send', 'receive', 'echo', 'open'];

const DEFAULTS = {
    port: 0, deadline_s: 120, address: 'examples',
    sessions: 1, links: 1, messages: 1, size: 100, credit: 100, drain: false, values: [],
    snd_settle_mode: 'unsettled', rcv_settle_mode: 'first', outcomes: ['accepted'],
    suspend: false, remembered: {}, refuse_error: null,
    max_frame_size: null, idle_timeout_ms: null, hold_ms: 0, silent: false,
    mechanism: null, user: null, password: null, mechanisms: [], users: {}, ca: null, cert: null, key: null,
    websocket: false,
    detach_error: null, end_error: null, close_error: null,
};

const SND_SETTLE_MODES = { unsettled: 0, settled: 1, mixed: 2 };
const RCV_SETTLE_MODES = { first: 0, second: 1 };
const BY_HAND = { credit_window: 0, autoaccept: false, autosettle: false, treat_modified_as_released: false };

function report(fact, about) {
    console.log(JSON.stringify({ fact, ...about }));
}

class Peer {
    constructor(role, scenario, options) {
        this.isClient = role === 'client';
        this.scenario = scenario;
        this.options = options;
        this.container = rhea.create_container({ id: 'rhea-peer', sender_options: BY_HAND, receiver_options: BY_HAND });
        this.ends = new Map();
        this.gone = new Set();
        this.suspended = new Set();
        this.sessions = new Set();
        this.totals = { links: 0 };
        this.isOpen = this.isOver = false;
        this.closedWith = null;
        this.mechanism = this.user = null;
    }

    get ownOpen() {
        const fields = { host: '127.0.0.1', hostname: 'localhost', reconnect: false };
        if (this.options.max_frame_size) fields.max_frame_size = this.options.max_frame_size;
        if (this.options.idle_timeout_ms) fields.idle_time_out = this.options.idle_timeout_ms;
        return fields;
    }

    run() {
        this.listenToEvents();
        if (this.isClient) {
            const options = { ...this.ownOpen, port: this.options.port };
            if (this.options.websocket) options.connection_details = this.webSocket();
            else if (this.options.ca) Object.assign(options, this.tls());
            if (this.options.mechanism) options.sasl_mechanisms = this.clientMechanisms();
            this.adopt(this.container.connect(options));
            if (!this.options.websocket) this.connection.socket.on('close', () => this.finish());
        } else {
            this.offerMechanisms();
            const server = this.container.listen({ ...this.ownOpen, port: this.options.port });
            server.on('listening', () => report('listening', { port: server.address().port }));
            server.on('connection', (socket) => {
                server.close();
                socket.on('close', () => this.finish());
            });
        }
    }

    tls() {
        return { transport: 'tls', servername: 'localhost', ...this.files() };
    }

    files() {
        const read = (name) => this.options[name] && fs.readFileSync(this.options[name]);
        return { ca: read('ca'), cert: read('cert'), key: read('key') };
    }

    webSocket() {
        // rhea has no event for the end of a WebSocket that it has not opened, so this is told by the socket itself.
        const finish = () => setImmediate(() => this.finish());
        class Watched extends WebSocket {
            constructor(...given) {
                super(...given);
                this.once('close', (code) => {
                    report('websocket_closed', { code });
                    finish();
                });
            }
        }
        const scheme = this.options.ca ? 'wss' : 'ws';
        const url = `${scheme}://localhost:${this.options.port}`;
        return this.container.websocket_connect(Watched)(url, ['amqp'], { family: 4, ...this.files() });
    }

    clientMechanisms() {
        const { mechanism, user, password } = this.options;
        this.mechanism = mechanism;
        if (HASHES[mechanism]) return { [mechanism]: () => new ScramClient(mechanism, user, password) };
        const mechanisms = rhea.sasl.client_mechanisms();
        if (mechanism === 'PLAIN') mechanisms.enable_plain(user, password);
        else mechanisms.enable_anonymous();
        return mechanisms;
    }

    offerMechanisms() {
        const offered = this.container.sasl_server_mechanisms;
        for (const name of this.options.mechanisms) {
            if (HASHES[name]) {
                offered[name] = () => new ScramServer(name, this.options.users);
            } else if (name === 'PLAIN') {
                offered.enable_plain((user, password) => this.options.users[user] === password);
            } else {
                offered.enable_anonymous();
            }
        }
    }

    listenToEvents() {
        const on = (name, handle) => this.container.on(name, (context) => {
            handle(context);
            setImmediate(() => this.moveOn());
        });
        const end = (context) => this.ends.get((context.sender || context.receiver).name);
        on('connection_open', (context) => this.onOpen(context.connection));
        on('connection_close', (context) => this.onClose(context));
        on('connection_error', () => {});
        on('disconnected', () => {});
        on('protocol_error', (error) => this.onFailure({ condition: null, description: error.message }));
        on('session_open', (context) => this.onSession(context.session));
        on('session_error', () => {});
        on('session_close', (context) => this.onEnd(context.session));
        for (const kind of ['sender', 'receiver']) {
            on(kind + '_open', (context) => this.onAttach(context[kind]));
            on(kind + '_error', () => {});
            on(kind + '_close', (context) => this.onDetach(context[kind]));
        }
        on('sendable', (context) => end(context).onCredit());
        on('sender_draining', (context) => end(context).onDraining());
        on('receiver_drained', (context) => end(context).onDrained());
        on('message', (context) => end(context).onMessage(context.message, context.delivery));
        for (const state of OUTCOMES) on(state, (context) => end(context).onOutcome(state, context.delivery));
        on('settled', (context) => {
            if (context.receiver) end(context).onSettled(context.delivery);
            else context.delivery.settled = true;
        });
    }

    // Watch a connection for what rhea has no event for.
    adopt(connection) {
        if (this.connection) return;
        this.connection = connection;
        const idle = connection.idle;
        connection.idle = () => {
            this.onFailure({ condition: 'amqp:resource-limit-exceeded', description: 'max idle time exceeded' });
            idle.call(connection);
        };
    }

    onOpen(connection) {
        const sasl = connection.sasl_transport && connection.sasl_transport.selected || connection.sasl_transport;
        this.isOpen = true;
        this.adopt(connection);
        report('opened', {
            container: connection.container_id,
            max_frame_size: connection.max_frame_size || null,
            idle_timeout_ms: connection.idle_time_out || 0,
            mechanism: this.mechanismOf(sasl),
            user: this.isClient ? this.options.user : (sasl && sasl.username) || null,
        });
        if (this.options.silent) {
            setImmediate(() => this.freeze());
        } else if (this.options.close_error && !this.isClient) {
            this.close();
        } else if (this.isClient && this.scenario === 'open') {
            setTimeout(() => this.close(), this.options.hold_ms);
        } else if (this.isClient) {
            this.attachAll();
        }
    }

    mechanismOf(sasl) {
        if (this.isClient || !sasl || !sasl.mechanism) return this.mechanism;
        const names = this.options.mechanisms;
        return names.length === 1 ? names[0] : sasl.mechanism.constructor.name;
    }

    // Nothing is read or written until the test closes our standard input.
    freeze() {
        fs.readFileSync(0);
        this.close();
    }

    attachAll() {
        for (let number = 0; number < this.options.sessions; number++) {
            const session = this.connection.create_session();
            session.begin();
            for (let one = 0; one < this.options.links; one++) {
                if (this.scenario !== 'receive') this.attach(session, 'sender', `send-${number}-${one}`, 'target');
                if (this.scenario !== 'send') this.attach(session, 'receiver', `receive-${number}-${one}`, 'source');
            }
        }
    }

    attach(session, kind, name, terminus) {
        this.play(session['open_' + kind]({
            ...BY_HAND,
            name,
            [terminus]: { address: this.options.address.replace('{}', name.slice(name.indexOf('-') + 1)) },
            snd_settle_mode: SND_SETTLE_MODES[this.options.snd_settle_mode],
            rcv_settle_mode: RCV_SETTLE_MODES[this.options.rcv_settle_mode],
        }));
    }

    // Put one of our ends on a link.
    play(link) {
        const isAgain = this.suspended.has(link.name);
        const [Sends, Receives] = isAgain ? [ResumedSending, ResumedReceiving] : [Sending, Receiving];
        const options = { ...this.options, suspend: this.options.suspend && !isAgain };
        const end = new (link.is_sender() ? Sends : Receives)(link, options, report, this.totals);
        this.ends.set(link.name, end);
        if (this.scenario !== 'echo') return;
        const values = this.isClient ? this.options.values : [];
        if (link.is_receiver()) {
            end.left = this.isClient ? values.length : Infinity;
            end.onValue = this.isClient ? () => {} : (value) => this.sendBack(value);
        } else {
            end.left = 0;
            values.forEach((value) => end.queue(value));
        }
    }

    sendBack(value) {
        const sender = [...this.ends.values()].find((end) => end instanceof Sending);
        sender.queue(value);
        sender.onCredit();
    }

    onSession(session) {
        this.sessions.add(session);
        const onTransfer = session.on_transfer;
        const ends = this.ends;
        session.on_transfer = function (frame) {
            // rhea has no event for the beginning of a message.
            ends.get(this._get_link(frame).name).onTransfer(frame);
            onTransfer.call(this, frame);
            // rhea looks at its session window only after an event, and a partial delivery causes none.
            this.connection._register();
        };
    }

    onAttach(link) {
        if (this.options.refuse_error && !this.isClient) {
            link.close(this.options.refuse_error);
            return;
        }
        if (!this.isClient) {
            link.set_source({ address: link.source && link.source.address });
            link.set_target({ address: link.target && link.target.address });
            link.local.attach.snd_settle_mode = link.snd_settle_mode;
            link.local.attach.rcv_settle_mode = link.rcv_settle_mode;
            this.play(link);
        }
        this.totals.links += 1;
        report('attached', { link: link.name, role: link.is_sender() ? 'sender' : 'receiver' });
        this.ends.get(link.name).onOpen();
    }

    // End what is done: its links; and, as client, the connection once all links are gone.
    moveOn() {
        const { detach_error: error, end_error: endError } = this.options;
        this.ends.forEach((end) => end.afterOutput && end.afterOutput());
        if (this.isOver || !(this.isClient || error || endError)) return;
        const ends = [...this.ends.values()];
        if (!ends.length || !ends.every((end) => end.isDone && end.link.remote.attach)) return;
        this.isOver = true;
        if (endError) this.sessions.forEach((session) => session.close(endError));
        else ends.forEach((end) => end.link.close(error));
    }

    onDetach(link) {
        if (!link.remote.detach.closed) {
            this.suspend(link);
            return;
        }
        report('detached', { link: link.name, error: errorFact(link.error) });
        this.gone.add(link.name);
        if (this.isClient && this.gone.size === this.ends.size) setImmediate(() => this.close());
    }

    // Keep the link for its next attachment, which is the client's to make.
    suspend(link) {
        report('suspended', { link: link.name });
        this.suspended.add(link.name);
        if (link.state.local_open) {
            link.detach();
        } else {
            // At once: the next attach may be in the same read, and rhea would only forget this one two ticks later.
            link.remove();
            link.remove = () => {};
        }
        if (this.isClient) setImmediate(() => this.attachAgain(link));
    }

    attachAgain(link) {
        const [kind, terminus] = link.is_sender() ? ['sender', 'target'] : ['receiver', 'source'];
        this.attach(link.session, kind, link.name, terminus);
    }

    onEnd(session) {
        report('ended', { error: errorFact(session.error) });
        if (this.isClient) setImmediate(() => this.close());
    }

    close() {
        this.connection.close(this.options.close_error || undefined);
    }

    onClose(context) {
        const isRemote = Boolean(context.connection.remote.close);
        if (!isRemote) {
            const { condition, description } = context.error;
            this.onFailure({ condition, description });
            return;
        }
        this.closedWith = errorFact(context.connection.error);
        report('closed', { error: this.closedWith });
        this.isClosed = true;
    }

    onFailure(error) {
        if (this.hasFailed) return;
        this.hasFailed = true;
        report(this.isOpen ? 'failed' : 'refused', { error: { info: {}, ...error } });
    }

    // The socket is gone.
    finish() {
        if (!this.isClosed) this.onFailure({ condition: 'amqp:connection:framing-error', description: 'disconnected' });
        report('summary', { opened: this.isOpen, error: this.closedWith, ...this.totals });
        process.exit(0);
    }
}

function main([role, scenario, text = '{}']) {
    if (!['client', 'server'].includes(role) || !SCENARIOS.includes(scenario)) {
        console.error(`usage: node peer.js client|server ${SCENARIOS.join('|')} [JSON]`);
        process.exit(1);
    }
    const options = { ...DEFAULTS, ...JSON.parse(text) };
    // Messages stay as octets: rhea would drop the types of what is in them.
    rhea.message.decode = (octets) => octets;
    setTimeout(() => {
        report('deadline', {});
        process.exit(3);
    }, options.deadline_s * 1000);
    new Peer(role, scenario, options).run();
}

main(process.argv.slice(2));
