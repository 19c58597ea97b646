/**
 * AMQP management over one connection: requests to the router that the page is connected to, and to all that it reaches.
 *
 * There is one link for requests, which says in each message where it goes, and one for answers.
 */

import { mechanismsFor } from './sasl.js';

const ANSWER_MS = 10_000;
const OPEN_MS = 10_000;
const PAGE_ROWS = 1000;
/** Requests to one router that are under way at a time; others wait here. */
const AT_ONCE = 8;

export const PREFIX = 'org.apache.qpid.dispatch.';
const NODE = { type: 'org.amqp.management', name: 'self' };

/** @typedef {Record<string, any>} Row */
/** @typedef {{operation: string, router?: string | null, body?: unknown} & Record<string, unknown>} Request */
/** @typedef {{status: number, text: string, body: any}} Answer */

/** What a router says no to, or why there was no answer. */
export class ManagementError extends Error {
    /**
     * @param {number} status 0 where no router has answered
     * @param {string} text
     * @param {string} [advice] what a user can do about it
     */
    constructor(status, text, advice = '') {
        super(text);
        this.status = status;
        this.advice = advice;
    }
}

/**
 * What is done about a status.
 * @param {number} status
 */
function adviceFor(status) {
    if (status === 403) return 'Sign in as a user whom policy allows this, or see managementAccess of the section router.';
    if (status === 404) return 'It may have gone in the meantime; look at the list again.';
    if (status >= 500) return 'Try again; if it stays so, look at the log of that router.';
    return '';
}

/**
 * Where a router's management is.
 * @param {string | null | undefined} router null for the one that the page is connected to
 */
function addressOf(router) {
    return router ? `amqp:/${router}/$management` : '$management';
}

/** A connection to a router. */
export class Management {
    /** @param {any} connection a connection of rhea, on which both links are open */
    constructor(connection) {
        this.connection = connection;
        /** @type {any} */
        this.sender = undefined;
        this.replyTo = '';
        this.lastId = 0;
        /** @type {ManagementError | null} why there is no connection any more */
        this.lost = null;
        /** @type {Map<string, {settle: (answer: Answer) => void, fail: (error: Error) => void, timer: any, delivery?: any}>} */
        this.waiting = new Map();
        /** @type {Map<string, {running: number, queue: (() => void)[]}>} */
        this.lanes = new Map();
        /** @type {(reason: ManagementError) => void} */
        this.onLost = () => {};
    }

    /**
     * Connect and sign in.
     * @param {any} rhea
     * @param {{options: Record<string, unknown>, where: string, credentials: {user: string, password: string} | null}} target
     * @returns {Promise<Management>}
     */
    static open(rhea, { options, where, credentials }) {
        return new Promise((resolve, reject) => {
            const container = rhea.create_container();
            const Buffer = rhea.message.encode({ body: '' }).constructor;
            const connection = container.connect({
                ...options,
                container_id: `mobula-console-${Math.random().toString(36).slice(2, 10)}`,
                properties: { product: 'mobula console' },
                reconnect: false,
                sasl_mechanisms: mechanismsFor(credentials, (octets) => Buffer.from(octets)),
                username: credentials?.user,
                idle_time_out: 30_000,
                max_frame_size: 65_536,
            });
            const management = new Management(connection);
            let isOpen = false;
            const fail = (/** @type {ManagementError} */ error) => {
                clearTimeout(timer);
                if (isOpen) {
                    management.lose(error);
                } else {
                    reject(error);
                    // Where there is a socket still, it has no use any more.
                    if (connection.is_open()) connection.close();
                }
            };
            const timer = setTimeout(() => fail(unreachable(where)), OPEN_MS);
            container.on('connection_error', (/** @type {any} */ context) => fail(refusal(context.error ?? connection.error, credentials)));
            container.on('disconnected', () => fail(unreachable(where)));
            container.on('connection_close', () => fail(new ManagementError(0, 'The router closed the connection.')));
            container.on('error', (/** @type {any} */ error) => fail(new ManagementError(0, error.message ?? String(error))));
            container.on('receiver_error', (/** @type {any} */ context) => fail(refusal(context.receiver.error, credentials)));
            container.on('sender_error', (/** @type {any} */ context) => fail(refusal(context.sender.error, credentials)));
            container.on('receiver_open', (/** @type {any} */ context) => {
                management.replyTo = context.receiver.source.address;
            });
            container.on('sendable', (/** @type {any} */ context) => {
                management.sender = context.sender;
                if (!isOpen && management.replyTo) {
                    isOpen = true;
                    clearTimeout(timer);
                    resolve(management);
                }
            });
            container.on('message', (/** @type {any} */ context) => management.receive(context.message));
            for (const outcome of ['released', 'rejected', 'modified']) {
                container.on(outcome, (/** @type {any} */ context) => management.refused(context.delivery, outcome));
            }
            connection.open_receiver({ source: { dynamic: true }, credit_window: 200 });
            connection.open_sender({ target: {} });
        });
    }

    /**
     * Ask, and return what is answered; raises ManagementError where that is no success.
     * @param {Request} request
     * @returns {Promise<any>}
     */
    async ask({ operation, router = null, body = {}, ...properties }) {
        const lane = this.lane(router ?? '');
        if (lane.running >= AT_ONCE) await new Promise((go) => lane.queue.push(() => go(undefined)));
        lane.running += 1;
        try {
            const answer = await this.send(router, { operation, ...properties }, body);
            if (answer.status >= 300) throw new ManagementError(answer.status, answer.text, adviceFor(answer.status));
            return answer.body;
        } finally {
            lane.running -= 1;
            lane.queue.shift()?.();
        }
    }

    /**
     * All rows of a type, page by page.
     * @param {string | null} router
     * @param {string} entityType in full
     * @param {string[]} [attributeNames] all without it
     * @param {{most?: number, operation?: string, onPage?: (rows: Row[]) => void}} [limits]
     * @returns {Promise<Row[]>}
     */
    async query(router, entityType, attributeNames = [], { most = Infinity, operation = 'QUERY', onPage } = {}) {
        /** @type {Row[]} */
        const rows = [];
        while (rows.length < most) {
            const count = Math.min(PAGE_ROWS, most - rows.length);
            const body = await this.ask({
                operation, router, entityType, ...NODE, offset: rows.length, count, body: { attributeNames },
            });
            const names = body.attributeNames;
            for (const values of body.results) {
                /** @type {Row} */
                const row = {};
                for (let index = 0; index < names.length; index++) row[names[index]] = values[index];
                rows.push(row);
            }
            onPage?.(rows);
            if (body.results.length < count) break;
        }
        return rows;
    }

    /**
     * Ask the management node itself.
     * @param {string | null} router
     * @param {string} operation
     * @param {Record<string, unknown>} [properties]
     */
    node(router, operation, properties = {}) {
        return this.ask({ operation, router, ...NODE, ...properties });
    }

    close() {
        this.onLost = () => {};
        if (!this.lost) this.connection.close();
        this.lost = new ManagementError(0, 'The connection is closed.');
    }

    /** @param {string} router */
    lane(router) {
        let lane = this.lanes.get(router);
        if (!lane) this.lanes.set(router, (lane = { running: 0, queue: [] }));
        return lane;
    }

    /**
     * @param {string | null} router
     * @param {Record<string, unknown>} properties
     * @param {unknown} body
     * @returns {Promise<Answer>}
     */
    send(router, properties, body) {
        return new Promise((settle, fail) => {
            if (this.lost) {
                fail(this.lost);
                return;
            }
            const id = String(++this.lastId);
            const timer = setTimeout(() => {
                this.waiting.delete(id);
                fail(new ManagementError(0, 'The router gave no answer for 10 s.', 'It may be busy, or on its way down; it is asked again.'));
            }, ANSWER_MS);
            /** @type {{settle: (answer: Answer) => void, fail: (error: Error) => void, timer: any, delivery?: any}} */
            const waiting = { settle, fail, timer };
            this.waiting.set(id, waiting);
            try {
                waiting.delivery = this.sender.send({
                    to: addressOf(router), reply_to: this.replyTo, correlation_id: id, application_properties: properties, body,
                });
            } catch (error) {
                this.take(id);
                fail(new ManagementError(0, `The request can't be sent: ${/** @type {Error} */ (error).message}`));
            }
        });
    }

    /** @param {string} id */
    take(id) {
        const waiting = this.waiting.get(id);
        this.waiting.delete(id);
        if (waiting) clearTimeout(waiting.timer);
        return waiting;
    }

    /** @param {any} message */
    receive(message) {
        const { statusCode, statusDescription } = message.application_properties ?? {};
        this.take(message.correlation_id)?.settle({ status: statusCode, text: statusDescription, body: message.body });
    }

    /**
     * @param {any} delivery
     * @param {string} outcome
     */
    refused(delivery, outcome) {
        for (const [id, waiting] of this.waiting) {
            if (waiting.delivery === delivery) {
                const text = outcome === 'rejected' ? delivery.remote_state?.error?.description : '';
                this.take(id)?.fail(new ManagementError(0, text || 'The router is not reached at the moment.',
                    'It may be down, or the way to it may be; see the topology.'));
                return;
            }
        }
    }

    /** @param {ManagementError} reason */
    lose(reason) {
        this.lost = reason;
        for (const id of [...this.waiting.keys()]) this.take(id)?.fail(reason);
        const { onLost } = this;
        this.onLost = () => {};
        onLost(reason);
    }
}

/** @param {string} where */
function unreachable(where) {
    return new ManagementError(0, `No router answers at ${where}.`,
        'See that it runs, that its listener has http: yes and websockets: yes, and that nothing in between refuses WebSockets.');
}

/**
 * @param {any} error what rhea says
 * @param {object | null} credentials
 */
function refusal(error, credentials) {
    const text = error?.description || error?.message || 'no reason was given';
    if (/No suitable mechanism/.test(text)) {
        const offered = text.replace(/^.*supports /, '').replace(/,/g, ', ');
        return new ManagementError(401, `The router does not take that way to sign in: it offers ${offered}.`,
            credentials ? 'Sign in without a user name, or over HTTPS, where SCRAM can be used.' : 'Sign in with a user name and a password.');
    }
    if (/Failed to authenticate: 1/.test(text)) {
        return new ManagementError(401, 'The router refuses this user name and password.', 'Check both; capital letters count.');
    }
    if (/Failed to authenticate/.test(text)) {
        return new ManagementError(500, 'The router could not check the password.', 'Its log says why, under AUTHSERVICE.');
    }
    if (error?.condition === 'amqp:unauthorized-access' || error?.condition === 'amqp:resource-limit-exceeded') {
        return new ManagementError(403, `The router refuses the connection: ${text}`, 'Its policy for this user and host says no.');
    }
    return new ManagementError(0, `The connection ended: ${text}`);
}
