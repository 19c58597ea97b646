'use strict';
// The two ends of a link that is attached again with deliveries unsettled from before. rhea writes and reads the
// unsettled maps and `resume`, but keeps no account of them: that is done here.

const rhea = require('rhea');
const { Receiving, Sending } = require('./links.js');
const { bodyOf, typed } = require('./values.js');

const UNSETTLED = 7;
const ACCEPTED = 0x24;

// Put an unsettled map, of numbers to names of states, into our attach; rhea's own setter makes strings of the tags.
function offer(link, states) {
    const pairs = Object.entries(states).map(([number, state]) => [
        ['binary', Buffer.from(number).toString('hex')],
        state ? ['described', ['ulong', String(ACCEPTED)], ['list', []]] : ['null'],
    ]);
    link.local.attach.value[UNSETTLED] = typed(['map', pairs]);
}

// The unsettled map of the other end's attach.
function offered(link) {
    const unsettled = link.remote.attach.unsettled || {};
    return Object.fromEntries(Object.entries(unsettled).map(([tag, state]) => [tag, state ? 'accepted' : null]));
}

class ResumedSending extends Sending {
    constructor(link, options, report, totals) {
        super(link, options, report, totals);
        this.numbers = [...Array(options.messages).keys()];
        this.resumed = new Set();
        offer(link, Object.fromEntries(this.numbers.map((number) => [number, null])));
        const output = link.session.output;
        link.session.output = (frame, payload) => {
            if (this.resumed.has(String(frame.delivery_tag))) frame.resume = true;
            output.call(link.session, frame, payload);
        };
    }

    onOpen() {
        this.states = offered(this.link);
        this.report('unsettled', { link: this.link.name, states: this.states });
    }

    onCredit() {
        for (let credit = this.link.credit; credit > 0 && this.numbers.length; credit--) {
            this.recover(this.numbers.shift());
            this.left -= 1;
        }
    }

    recover(number) {
        const state = this.states[number];
        if (state !== undefined) this.resumed.add(String(number));
        const delivery = this.link.send(state ? Buffer.alloc(0) : this.dataMessage(number), Buffer.from(String(number)), 0);
        this.unsettled += 1;
        if (state) {
            delivery.settled = true;
            this.reportOutcome(state, number, false);
        }
    }
}

class ResumedReceiving extends Receiving {
    constructor(link, options, report, totals) {
        super(link, options, report, totals);
        offer(link, options.remembered);
        this.resumed = new Set();
    }

    onOpen() {
        this.report('unsettled', { link: this.link.name, states: offered(this.link) });
        super.onOpen();
    }

    onTransfer(frame) {
        if (frame.performative.resume) this.resumed.add(String(frame.performative.delivery_tag));
        super.onTransfer(frame);
    }

    onMessage(message, delivery) {
        this.received = Number(delivery.tag);
        super.onMessage(message, delivery);
    }

    reportMessage(message, delivery) {
        if (!this.resumed.has(String(delivery.tag))) {
            super.reportMessage(message, delivery);
            return;
        }
        const octets = message && message.length ? bodyOf(message).length : 0;
        const about = { link: this.link.name, number: this.received };
        this.report('resumed', { ...about, octets, settled: Boolean(delivery.remote_settled) });
    }
}

module.exports = { ResumedReceiving, ResumedSending };
