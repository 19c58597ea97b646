/**
 * SASL mechanisms for rhea, which has ANONYMOUS and a PLAIN that cuts names with other than ASCII characters.
 *
 * SCRAM is RFC 5802 and RFC 7677. Browsers compute it on pages from HTTPS or from this host only.
 */

const SCRAM = { 'SCRAM-SHA-512': 'SHA-512', 'SCRAM-SHA-256': 'SHA-256', 'SCRAM-SHA-1': 'SHA-1' };
const NO_CHANNEL_BINDING = 'n,,';
const ITERATIONS_MAX = 1_000_000;

const encoder = new TextEncoder();

/** @typedef {Uint8Array<ArrayBuffer>} Octets */
/** @typedef {(error: unknown, response?: Uint8Array) => void} Reply */

/** @param {Uint8Array} octets */
function base64(octets) {
    return btoa(String.fromCharCode(...octets));
}

/**
 * @param {string} text
 * @returns {Octets}
 */
function unbase64(text) {
    return Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
}

/** @param {string} text */
function fields(text) {
    return Object.fromEntries(text.split(',').map((part) => [part[0], part.slice(2)]));
}

/**
 * @param {string} hash
 * @param {Octets} key
 * @param {string} text
 */
async function hmac(hash, key, text) {
    const made = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash }, false, ['sign']);
    return new Uint8Array(await crypto.subtle.sign('HMAC', made, encoder.encode(text)));
}

/**
 * What both sides derive from the password and the exchange so far.
 * @param {string} hash
 * @param {string} password
 * @param {Octets} salt
 * @param {number} iterations
 * @param {string} exchange
 */
async function proofs(hash, password, salt, iterations, exchange) {
    const key = await crypto.subtle.importKey('raw', encoder.encode(password.normalize('NFKC')), 'PBKDF2', false, ['deriveBits']);
    const bits = 8 * new Uint8Array(await crypto.subtle.digest(hash, new Uint8Array())).length;
    const salted = new Uint8Array(await crypto.subtle.deriveBits({ name: 'PBKDF2', hash, salt, iterations }, key, bits));
    const clientKey = await hmac(hash, salted, 'Client Key');
    const storedKey = new Uint8Array(await crypto.subtle.digest(hash, clientKey));
    const signature = await hmac(hash, storedKey, exchange);
    const serverKey = await hmac(hash, salted, 'Server Key');
    return {
        client: base64(clientKey.map((octet, index) => octet ^ signature[index])),
        server: base64(await hmac(hash, serverKey, exchange)),
    };
}

/** One exchange of SCRAM, from the client's side. */
class Scram {
    /**
     * @param {string} hash
     * @param {string} user
     * @param {string} password
     */
    constructor(hash, user, password) {
        this.hash = hash;
        this.password = password;
        const nonce = base64(crypto.getRandomValues(new Uint8Array(18)));
        this.nonce = nonce;
        this.first = `n=${user.replace(/=/g, '=3D').replace(/,/g, '=2C')},r=${nonce}`;
        /** @type {string | undefined} */
        this.expected = undefined;
    }

    /** @param {Reply} reply */
    start(reply) {
        reply(undefined, encoder.encode(NO_CHANNEL_BINDING + this.first));
    }

    /**
     * @param {Uint8Array} challenge
     * @param {Reply} reply
     */
    step(challenge, reply) {
        this.answer(new TextDecoder().decode(challenge)).then(
            (text) => reply(undefined, encoder.encode(text)),
            (error) => reply(error.message),
        );
    }

    /** @param {string} text */
    async answer(text) {
        const { r: nonce, s: salt, i: iterations, v: verifier, e: error } = fields(text);
        if (error) throw new Error(error);
        if (this.expected !== undefined) {
            if (verifier !== this.expected) throw new Error('the router does not know the password itself');
            return '';
        }
        if (!nonce?.startsWith(this.nonce) || !(Number(iterations) > 0 && Number(iterations) <= ITERATIONS_MAX)) {
            throw new Error('what the router says is not SCRAM');
        }
        const final = `c=${btoa(NO_CHANNEL_BINDING)},r=${nonce}`;
        const exchange = [this.first, text, final].join(',');
        const proof = await proofs(this.hash, this.password, unbase64(salt), Number(iterations), exchange);
        this.expected = proof.server;
        return `${final},p=${proof.client}`;
    }
}

/** Whether this page may compute SCRAM. */
export function hasScram() {
    return globalThis.crypto?.subtle !== undefined;
}

/**
 * The mechanisms that a user can sign in by, as rhea takes them.
 * @param {{user: string, password: string} | null} credentials null for ANONYMOUS
 * @param {(octets: Uint8Array) => Uint8Array} asBuffer makes what rhea can encode
 * @returns {Record<string, () => object>}
 */
export function mechanismsFor(credentials, asBuffer) {
    if (credentials === null) {
        return { ANONYMOUS: () => ({ start: (/** @type {Reply} */ reply) => reply(undefined, asBuffer(encoder.encode('console'))) }) };
    }
    const { user, password } = credentials;
    /** @type {Record<string, () => object>} */
    const found = {
        PLAIN: () => ({
            start: (/** @type {Reply} */ reply) => reply(undefined, asBuffer(encoder.encode(`\0${user}\0${password}`))),
        }),
    };
    if (hasScram()) {
        for (const [name, hash] of Object.entries(SCRAM)) {
            found[name] = () => {
                const scram = new Scram(hash, user, password);
                return {
                    start: (/** @type {Reply} */ reply) => scram.start((error, octets) => reply(error, octets && asBuffer(octets))),
                    step: (/** @type {Uint8Array} */ challenge, /** @type {Reply} */ reply) =>
                        scram.step(challenge, (error, octets) => reply(error, octets && asBuffer(octets))),
                };
            };
        }
    }
    return found;
}
