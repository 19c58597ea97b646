/** The rights that policy gives to send to an address, and to receive from it, from what a router's management tells. */

import { matches, routed, wordsOf } from './patterns.js';

const USER = '${user}';
const [EVERYBODY, DEFAULT, CONNECTOR] = ['*', '$default', '$connector'];

/** @typedef {import('./management.js').Row} Row */
/** @typedef {{user: string, vhost: string, group: string | null}} Membership */
/** @typedef {{vhost: string, group: string, maySend: boolean | null, mayReceive: boolean | null, isAsker: boolean}} Right null depends on the user */

/**
 * The user, the virtual host and the group of the connection that asks; null if it is at another router, or has none.
 * @param {string | null} asker its container-id
 * @param {Row[]} connections
 * @param {Row[]} vhostStats
 * @param {Row[]} vhosts
 * @returns {Membership | null}
 */
export function membership(asker, connections, vhostStats, vhosts) {
    const row = asker === null ? undefined : connections.find((one) => one.container === asker);
    if (!row) return null;
    const user = row.user || 'anonymous';
    const names = vhostStats.filter((one) => (one.perUserState?.[user] ?? []).includes(row.host)).map((one) => one.hostname);
    const vhost = vhosts.find((one) => names.includes(one.hostname));
    return vhost ? { user, vhost: vhost.hostname, group: groupOf(vhost, user) } : null;
}

/**
 * @param {Row} vhost
 * @param {string} user
 */
function groupOf(vhost, user) {
    const groups = groupsOf(vhost).filter(([name]) => name !== CONNECTOR);
    for (const wanted of [user, EVERYBODY]) {
        for (const [name, settings] of groups) if (items(settings.users).includes(wanted)) return name;
    }
    return vhost.allowUnknownUser && groups.some(([name]) => name === DEFAULT) ? DEFAULT : null;
}

/**
 * The rights of all groups of clients.
 * @param {string} address
 * @param {Row[]} vhosts
 * @param {Membership | null} asker
 * @returns {Right[]}
 */
export function rights(address, vhosts, asker) {
    return vhosts.flatMap((vhost) => groupsOf(vhost).filter(([group]) => group !== CONNECTOR).map(([group, settings]) => {
        const isAsker = asker !== null && asker.vhost === vhost.hostname && asker.group === group;
        const user = asker !== null && isAsker ? asker.user : null;
        return {
            vhost: vhost.hostname, group, isAsker,
            maySend: allows(address, settings.targets, settings.targetPattern, user),
            mayReceive: allows(address, settings.sources, settings.sourcePattern, user),
        };
    }));
}

/**
 * @param {string} address
 * @param {unknown} names
 * @param {unknown} patterns
 * @param {string | null} user
 * @returns {boolean | null}
 */
function allows(address, names, patterns, user) {
    const ofPatterns = items(patterns);
    const rules = ofPatterns.length ? ofPatterns : items(names);
    const isAllowed = ofPatterns.length ? patternAllows : nameAllows;
    const name = routed(address);
    if (rules.some((one) => isAllowed(one, name, user))) return true;
    return user === null && rules.some((one) => one.includes(USER)) ? null : false;
}

/**
 * @param {string} rule
 * @param {string} name
 * @param {string | null} user
 */
function nameAllows(rule, name, user) {
    if (rule === EVERYBODY) return true;
    const isPrefix = rule.endsWith(EVERYBODY);
    let wanted = routed(isPrefix ? rule.slice(0, -1) : rule);
    if (wanted.includes(USER)) {
        if (user === null) return false;
        const at = wanted.indexOf(USER);
        wanted = wanted.slice(0, at) + user + wanted.slice(at + USER.length);
    }
    return isPrefix ? name.startsWith(wanted) : name === wanted;
}

/**
 * @param {string} rule
 * @param {string} name
 * @param {string | null} user
 */
function patternAllows(rule, name, user) {
    const tokens = wordsOf(routed(rule));
    const words = wordsOf(name);
    const isFirst = tokens[0] === USER;
    if (!isFirst && tokens.at(-1) !== USER) return tokens.length > 0 && matches(tokens.join('.'), name);
    const own = wordsOf(user ?? '');
    if (!own.length || words.length < own.length) return false;
    const isOwn = (/** @type {string[]} */ some) => some.join('.') === own.join('.');
    if (tokens.length === 1) return isOwn(words);
    return isFirst
        ? isOwn(words.slice(0, own.length)) && matches(tokens.slice(1).join('.'), words.slice(own.length).join('.'))
        : isOwn(words.slice(-own.length)) && matches(tokens.slice(0, -1).join('.'), words.slice(0, -own.length).join('.'));
}

/**
 * @param {Row} vhost
 * @returns {[string, Row][]}
 */
function groupsOf(vhost) {
    return Object.entries(vhost.groups ?? {}).filter(([, settings]) => settings !== null && typeof settings === 'object');
}

/**
 * @param {unknown} value
 * @returns {string[]}
 */
function items(value) {
    const parts = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [];
    return parts.map((one) => String(one).trim()).filter((one) => one);
}
