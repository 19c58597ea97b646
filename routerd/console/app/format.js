/** Numbers, times and names, as people read them. */

const INTEGER = new Intl.NumberFormat('en');
const CLOCK = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });
const DASH = '–';

/** @param {unknown} value */
export function count(value) {
    return typeof value === 'number' ? INTEGER.format(value) : DASH;
}

/**
 * Three digits and a unit: 12.3 k.
 * @param {number | undefined | null} value
 */
export function short(value) {
    if (value === undefined || value === null || Number.isNaN(value)) return DASH;
    const size = Math.abs(value);
    if (size < 10) return String(Math.round(10 * value) / 10);
    for (const [least, unit] of /** @type {[number, string][]} */ ([[1e9, 'G'], [1e6, 'M'], [1e3, 'k']])) {
        if (size >= least * 0.9995) {
            const scaled = value / least;
            return `${scaled < 10 ? scaled.toFixed(2) : scaled < 100 ? scaled.toFixed(1) : scaled.toFixed(0)} ${unit}`;
        }
    }
    return String(Math.round(value));
}

/** @param {number | undefined | null} value */
export function rate(value) {
    return value === undefined || value === null ? DASH : `${short(value)}/s`;
}

/** @param {unknown} value */
export function octets(value) {
    if (typeof value !== 'number') return DASH;
    for (const [least, unit] of /** @type {[number, string][]} */ ([[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']])) {
        if (value >= least) return `${(value / least).toFixed(value < 10 * least ? 1 : 0)} ${unit}`;
    }
    return `${value} B`;
}

/** @param {unknown} value */
export function seconds(value) {
    if (typeof value !== 'number') return DASH;
    const total = Math.floor(value);
    const [days, hours, minutes] = [Math.floor(total / 86_400), Math.floor(total / 3600) % 24, Math.floor(total / 60) % 60];
    if (days) return `${days} d ${hours} h`;
    if (hours) return `${hours} h ${minutes} min`;
    if (minutes) return `${minutes} min ${total % 60} s`;
    return `${total} s`;
}

/**
 * How the figures of a name are written.
 * @param {string} name
 * @returns {(value: any) => string}
 */
export function formatOf(name) {
    if (/memory|octets|bytes/i.test(name)) return octets;
    if (/microseconds/i.test(name)) return microseconds;
    return /uptime|seconds$/i.test(name) ? seconds : short;
}

/** @param {unknown} value microseconds */
export function microseconds(value) {
    if (typeof value !== 'number') return DASH;
    return value < 1000 ? `${value} µs` : `${(value / 1000).toFixed(value < 10_000 ? 1 : 0)} ms`;
}

/** @param {number} ms since 1970 */
export function clock(ms) {
    return CLOCK.format(new Date(ms));
}

/** @param {number} ms since 1970 */
export function day(ms) {
    return DAY.format(new Date(ms));
}

/**
 * The key of an address in the words of people.
 * @param {string | null | undefined} key
 */
export function addressName(key) {
    if (!key) return DASH;
    return key.replace(/^(?:M\d?|[LTRFCDEH])/, '');
}

/** What the first letter of the key of an address says. */
const CLASSES = /** @type {Record<string, string>} */ ({
    M: 'mobile', L: 'local', T: 'topological', R: 'router', C: 'link route in', D: 'link route out',
    E: 'link route in', F: 'edge', H: 'edge summary',
});

/** @param {string | null | undefined} key */
export function addressClass(key) {
    return (key && CLASSES[key[0]]) || DASH;
}

/** @param {string | null | undefined} key */
export function addressPhase(key) {
    return /^M\d/.test(key ?? '') ? /** @type {string} */ (key)[1] : '';
}

/**
 * Any value of management, as text.
 * @param {unknown} value
 * @returns {string}
 */
export function text(value) {
    if (value === null || value === undefined || value === '') return DASH;
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    if (typeof value === 'number') return INTEGER.format(value);
    if (value instanceof Date) return value.toISOString();
    if (Array.isArray(value)) {
        const last = value.findLastIndex((one) => one !== 0);
        return value.length ? (last < 0 ? DASH : value.slice(0, last + 1).map(text).join(', ')) : DASH;
    }
    if (typeof value === 'object') {
        const members = Object.entries(value);
        return members.length ? members.map(([name, one]) => `${name}: ${text(one)}`).join(', ') : DASH;
    }
    return String(value);
}

/**
 * @param {number} number
 * @param {string} one
 * @param {string} [many]
 */
export function plural(number, one, many = `${one}s`) {
    return `${INTEGER.format(number)} ${number === 1 ? one : many}`;
}

/**
 * Words from a name such as `deliveriesIngress`.
 * @param {string} name
 */
export function words(name) {
    const spaced = name.replace(/([a-z])([A-Z0-9])/g, '$1 $2').replace(/([0-9])([A-Z])/g, '$1 $2').toLowerCase();
    return spaced[0].toUpperCase() + spaced.slice(1);
}
