'use strict';
// The two ends of a link, as a rhea peer plays them; each reports what it sees and says when it is done.

const crypto = require('crypto');
const rhea = require('rhea');
const { bodyOf, dataMessage, encodeMessage } = require('./values.js');

const REJECTION = { condition: 'test:rejected', description: 'not wanted', info: { reason: 'a test' } };
const MODIFICATION = { delivery_failed: true, undeliverable_here: true, message_annotations: { 'x-opt-note': 'seen' } };
const OUTCOMES = ['accepted', 'rejected', 'released', 'modified'];

const CYCLE = Buffer.from(Array.from({ length: 251 }, (_, octet) => octet));

// The octets of message number so-and-so: they count up modulo 251, from the number.
function contentOf(number, size) {
    const start = number % 251;
    return Buffer.alloc(size, Buffer.concat([CYCLE.subarray(start), CYCLE.subarray(0, start)]));
}

function errorFact(error) {
    if (!error) return null;
    const info = Object.fromEntries(Object.entries(error.info || {}).map(([key, value]) => [key, String(value)]));
    return { condition: error.condition, description: error.description || null, info };
}

function count(totals, name) {
    totals[name] = (totals[name] || 0) + 1;
}

// Sends the messages of one link as credit comes, and settles them as their outcomes come.
class Sending {
    constructor(link, options, report, totals) {
        Object.assign(this, { link, report, totals, size: options.size, left: options.messages });
        this.isDrainExpected = options.drain;
        this.isDraining = false;
        this.values = [];
        this.sent = this.unsettled = 0;
    }

    get isDone() {
        return !(this.left || this.unsettled || this.isDrainExpected || !this.isTransferred);
    }

    get isTransferred() {
        const outgoing = this.link.session.outgoing;
        return outgoing.next_pending_delivery === outgoing.next_delivery_id;
    }

    // Send this value as the body of a message, as one more than was planned.
    queue(value) {
        this.values.push(encodeMessage(value));
        this.left += 1;
    }

    onCredit() {
        const { link, totals } = this;
        // rhea takes the credit away only when it writes the transfer.
        for (let credit = link.credit; credit > 0 && this.left && link.session.outgoing.available(); credit--) {
            const message = this.values.shift() || this.dataMessage(this.sent);
            link.send(message, Buffer.from(String(this.sent)), 0);
            this.sent += 1;
            this.left -= 1;
            count(totals, 'sent');
            if (link.local.attach.snd_settle_mode !== 1) this.unsettled += 1;
        }
    }

    onDraining() {
        this.isDraining = true;
    }

    onOpen() {}

    dataMessage(number) {
        return dataMessage(contentOf(number, this.size));
    }

    // Called when rhea has written what it could.
    afterOutput() {
        if (!this.isDraining || !this.isDrainExpected || this.left || !this.isTransferred) return;
        this.isDrainExpected = false;
        this.report('drained', { link: this.link.name, returned: this.link.credit });
        this.link.set_drained(true);
        this.link.connection._register();
    }

    onOutcome(state, delivery) {
        const remote = delivery.remote_state;
        const fields = {};
        if (state === 'rejected') fields.error = errorFact(remote.error);
        if (state === 'modified') {
            fields.delivery_failed = remote.delivery_failed;
            fields.undeliverable_here = remote.undeliverable_here;
            fields.message_annotations = remote.message_annotations || {};
        }
        this.reportOutcome(state, Number(delivery.tag), delivery.remote_settled, fields);
        if (!delivery.remote_settled) delivery.update(true);
    }

    reportOutcome(state, number, settled, fields = {}) {
        this.report('outcome', { link: this.link.name, number, state, settled, ...fields });
        count(this.totals, state);
        this.unsettled -= 1;
    }
}

// Grants the credit of one link and gives each message the outcome that its number asks for.
class Receiving {
    constructor(link, options, report, totals) {
        Object.assign(this, { link, report, totals, left: options.messages, window: options.credit });
        this.outcomes = options.outcomes;
        this.isDraining = options.drain;
        this.willSuspend = options.suspend;
        this.onValue = undefined;
        this.isPartial = false;
        this.numbers = new Map();
        this.received = this.unsettled = 0;
    }

    get isDone() {
        return !(this.left || this.unsettled || this.isDraining || this.willSuspend);
    }

    onOpen() {
        if (this.isDraining) {
            this.link.add_credit(this.window);
            this.link.drain_credit();
        } else {
            this.link.add_credit(Math.min(this.window, this.left));
        }
    }

    onDrained() {
        if (!this.isDraining) return;
        this.isDraining = false;
        this.report('drained', { link: this.link.name, returned: this.window - this.received });
    }

    onTransfer({ performative, payload }) {
        if (performative.more && !this.isPartial) {
            this.report('partial', { link: this.link.name, number: this.received, octets: payload.length });
        }
        this.isPartial = performative.more;
    }

    onMessage(message, delivery) {
        this.reportMessage(message, delivery);
        const outcome = this.outcomes[this.received % this.outcomes.length];
        this.numbers.set(String(delivery.tag), this.received);
        this.received += 1;
        this.left -= 1;
        count(this.totals, 'received');
        if (this.willSuspend) this.keep();
        else if (delivery.remote_settled) delivery.settled = true;
        else this.giveOutcome(delivery, outcome);
        if (!this.isDraining && !this.link.credit) this.link.add_credit(Math.min(this.window, this.left));
    }

    // Decide nothing, and suspend the link when all messages are here.
    keep() {
        if (!this.left) this.link.detach();
    }

    reportMessage(message, delivery) {
        const about = { link: this.link.name, number: this.received };
        const body = bodyOf(message);
        if (this.onValue) {
            const value = Buffer.isBuffer(body) ? ['binary', body.toString('hex')] : body;
            this.report('value', { ...about, value });
            this.onValue(value);
        } else {
            const sha256 = crypto.createHash('sha256').update(body).digest('hex');
            this.report('received', { ...about, octets: body.length, sha256, settled: Boolean(delivery.remote_settled) });
        }
    }

    giveOutcome(delivery, name) {
        const fields = { rejected: { error: REJECTION }, modified: MODIFICATION }[name];
        const isSettled = this.link.local.attach.rcv_settle_mode !== 1;
        delivery.update(isSettled, rhea.message[name](fields).described());
        // Each by itself: rhea joins the first two of a batch into one range even when their outcomes differ.
        this.link.session.incoming.process(this.link.session);
        count(this.totals, name);
        if (!isSettled) this.unsettled += 1;
    }

    onSettled(delivery) {
        delivery.settled = true;
        this.report('settled', { link: this.link.name, number: this.numbers.get(String(delivery.tag)) });
        count(this.totals, 'settled');
        this.unsettled -= 1;
    }
}

module.exports = { OUTCOMES, Receiving, Sending, errorFact };
