'use strict';
// SCRAM (RFC 5802, RFC 7677) for rhea, which has no SCRAM of its own but takes mechanisms from outside.

const crypto = require('crypto');

const HASHES = { 'SCRAM-SHA-1': 'sha1', 'SCRAM-SHA-256': 'sha256', 'SCRAM-SHA-512': 'sha512' };
const NO_CHANNEL_BINDING = 'n,,';
const ITERATIONS = 4096;

function fields(text) {
    return Object.fromEntries(text.split(',').map((part) => [part[0], part.slice(2)]));
}

function hmac(hash, key, text) {
    return crypto.createHmac(hash, key).update(text).digest();
}

function xor(left, right) {
    return Buffer.from(left.map((octet, index) => octet ^ right[index]));
}

// Both sides derive the same keys from the password and the exchange so far.
function proofs(hash, password, salt, iterations, exchange) {
    const length = crypto.createHash(hash).digest().length;
    const salted = crypto.pbkdf2Sync(password, salt, iterations, length, hash);
    const clientKey = hmac(hash, salted, 'Client Key');
    const storedKey = crypto.createHash(hash).update(clientKey).digest();
    return {
        client: xor(clientKey, hmac(hash, storedKey, exchange)).toString('base64'),
        server: hmac(hash, hmac(hash, salted, 'Server Key'), exchange).toString('base64'),
    };
}

class ScramClient {
    constructor(mechanism, user, password) {
        this.hash = HASHES[mechanism];
        this.password = password;
        this.first = `n=${user.replace(/=/g, '=3D').replace(/,/g, '=2C')},r=${crypto.randomBytes(18).toString('base64')}`;
        this.expected = undefined;
    }

    start(callback) {
        callback(undefined, Buffer.from(NO_CHANNEL_BINDING + this.first));
    }

    step(challenge, callback) {
        const text = challenge.toString();
        const { r: nonce, s: salt, i: iterations, v: verifier, e: error } = fields(text);
        if (error || (this.expected && verifier !== this.expected)) {
            callback(error || 'the server does not know the password');
        } else if (this.expected) {
            callback(undefined, Buffer.alloc(0));
        } else {
            const final = `c=${Buffer.from(NO_CHANNEL_BINDING).toString('base64')},r=${nonce}`;
            const exchange = [this.first, text, final].join(',');
            const proof = proofs(this.hash, this.password, Buffer.from(salt, 'base64'), Number(iterations), exchange);
            this.expected = proof.server;
            callback(undefined, Buffer.from(`${final},p=${proof.client}`));
        }
    }
}

class ScramServer {
    constructor(mechanism, users) {
        this.hash = HASHES[mechanism];
        this.users = users;
        this.outcome = undefined;
        this.step = this.onProof;
    }

    start(response) {
        this.clientFirst = response.toString().slice(NO_CHANNEL_BINDING.length);
        const { n: user, r: nonce } = fields(this.clientFirst);
        this.username = user.replace(/=2C/g, ',').replace(/=3D/g, '=');
        this.password = this.users[this.username];
        if (this.password === undefined) {
            this.outcome = false;
            return undefined;
        }
        this.salt = crypto.randomBytes(16);
        this.nonce = nonce + crypto.randomBytes(18).toString('base64');
        this.first = `r=${this.nonce},s=${this.salt.toString('base64')},i=${ITERATIONS}`;
        return Buffer.from(this.first);
    }

    onProof(response) {
        const text = response.toString();
        const { r: nonce, p: proof } = fields(text);
        const exchange = [this.clientFirst, this.first, text.slice(0, text.lastIndexOf(',p='))].join(',');
        const expected = proofs(this.hash, this.password, this.salt, ITERATIONS, exchange);
        if (nonce !== this.nonce || proof !== expected.client) {
            this.outcome = false;
            return undefined;
        }
        this.step = this.onEmptyResponse;
        return Buffer.from(`v=${expected.server}`);
    }

    onEmptyResponse() {
        this.outcome = true;
    }
}

module.exports = { HASHES, ScramClient, ScramServer };
