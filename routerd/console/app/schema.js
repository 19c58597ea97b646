/** What the schema of a router says of entities, for lists and forms. */

import { PREFIX } from './management.js';

/** @typedef {{type: string | string[], description?: string, default?: unknown, required?: boolean, unique?: boolean, deprecated?: boolean, graph?: boolean}} AttributeSchema */
/** @typedef {{attributes: Record<string, AttributeSchema>, operations: string[], description: string, fullyQualifiedType: string, deprecated?: boolean, singleton?: boolean}} TypeSchema */
/** @typedef {Record<string, TypeSchema>} Schema */

/** Types that are none of entities, that no router has, or that are for trying tools. */
const LEFT_OUT = new Set([
    'entity', 'org.amqp.management', 'management', 'configurationEntity', 'operationalEntity', 'console', 'dummy', 'vhostUserGroupSettings',
    'allocator', 'router.connection.linkRoute',
]);
/** Attributes that a router sets, although the schema does not say so. */
const SET_BY_ROUTER = new Set([
    'identity', 'type', 'operStatus', 'linkRef', 'lastError', 'connectionStatus', 'connectionMsg', 'bindingCount', 'matchedCount',
]);
/** What can be changed of entities that are not configured. */
const CHANGEABLE = /** @type {Record<string, string[]>} */ ({ connection: ['adminStatus', 'enableProtocolTrace'] });
/** What can't be changed any more once an entity is there. */
const FIXED = /** @type {Record<string, string[]>} */ ({ log: ['module', 'name'], vhost: ['hostname', 'name'], record: ['name'] });
const SECRET = /password/i;
const LONG = new Set(['openProperties', 'groups', 'failoverUrls', 'messageLoggingComponents']);

/** Types whose live view is the one to show, since it has what was made at run time. */
const LIVE = new Set([
    'router.config.address', 'router.config.linkRoute', 'router.config.autoLink', 'router.config.exchange', 'router.config.binding', 'connection',
    'router.link', 'router.address', 'router',
].map((one) => PREFIX + one));

/**
 * The types that are worth a list, by group.
 * @param {Schema} schema
 * @returns {{title: string, types: string[]}[]}
 */
export function typeGroups(schema) {
    const types = Object.keys(schema).filter((one) => !LEFT_OUT.has(one));
    const canChange = types.filter((one) => canCreate(schema[one]) || canUpdate(schema[one], one));
    const configured = canChange.filter((one) => one !== 'connection' && one !== 'router.link');
    return [
        { title: 'Can be changed', types: configured.sort() },
        { title: 'Reports', types: types.filter((one) => !configured.includes(one)).sort() },
    ];
}

/** @param {TypeSchema} type */
export function canCreate(type) {
    return type.operations.includes('CREATE');
}

/**
 * @param {TypeSchema} type
 * @param {string} name
 */
export function canUpdate(type, name) {
    // Routers take a change of a link, and nothing comes of it.
    return name !== 'router.link' && (type.operations.includes('UPDATE') || name in CHANGEABLE);
}

/** @param {TypeSchema} type */
export function canDelete(type) {
    return type.operations.includes('DELETE');
}

/**
 * The operation that lists a type: in small letters it is the general view.
 * @param {TypeSchema} type
 */
export function listing(type) {
    return LIVE.has(type.fullyQualifiedType) ? 'QUERY' : 'query';
}

/**
 * The attributes that a form asks for, those that are required first.
 * @param {TypeSchema} type
 * @param {string} name
 * @param {'create' | 'update'} purpose
 * @returns {[string, AttributeSchema][]}
 */
export function formAttributes(type, name, purpose) {
    const all = Object.entries(type.attributes).filter(([one, schema]) => !SET_BY_ROUTER.has(one) && !schema.graph && !schema.deprecated);
    if (purpose === 'update') {
        const fixed = FIXED[name] ?? ['name'];
        return Object.entries(type.attributes).filter(([one, schema]) =>
            name in CHANGEABLE ? CHANGEABLE[name].includes(one) : all.some(([other]) => other === one) && !fixed.includes(one) && !schema.graph);
    }
    const rank = (/** @type {[string, AttributeSchema]} */ [one, schema]) => (one === 'name' ? 0 : schema.required ? 1 : FIRST.has(one) ? 2 : 3);
    return all.sort((a, b) => rank(a) - rank(b));
}

const FIRST = new Set(['prefix', 'pattern', 'distribution', 'host', 'port', 'role', 'address', 'direction', 'containerId', 'connection', 'hostname']);

/**
 * Whether a form shows an attribute at once, or behind "More".
 * @param {string} name
 * @param {AttributeSchema} schema
 */
export function isMain(name, schema) {
    return name === 'name' || Boolean(schema.required) || FIRST.has(name);
}

/**
 * The kind of field for an attribute.
 * @param {string} name
 * @param {AttributeSchema} schema
 * @returns {'choice' | 'boolean' | 'number' | 'secret' | 'long' | 'text'}
 */
export function fieldKind(name, schema) {
    if (Array.isArray(schema.type)) return 'choice';
    if (schema.type === 'boolean') return 'boolean';
    if (schema.type === 'integer') return 'number';
    if (SECRET.test(name)) return 'secret';
    if (schema.type === 'map' || LONG.has(name)) return 'long';
    return 'text';
}

/**
 * What a field says, as the router takes it; undefined where it says nothing. Raises Error with a sentence for people.
 * @param {AttributeSchema} schema
 * @param {string} entered
 */
export function valueOf(schema, entered) {
    const text = entered.trim();
    if (text === '') return undefined;
    if (schema.type === 'boolean') return text === 'true';
    if (schema.type === 'integer') {
        if (!/^-?\d+$/.test(text)) throw new Error(`${text} is not a whole number.`);
        return Number(text);
    }
    if (schema.type === 'map' || (schema.type === 'list' && text.startsWith('['))) {
        try {
            return JSON.parse(text);
        } catch (error) {
            throw new Error(`This is no JSON: ${/** @type {Error} */ (error).message}.`);
        }
    }
    return entered;
}

/**
 * A value, as a field has it.
 * @param {unknown} value
 */
export function entryOf(value) {
    if (value === null || value === undefined) return '';
    return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}

/**
 * The attribute that a refusal is about, if it names one.
 * @param {string} text
 * @param {string[]} names
 */
export function namedAttribute(text, names) {
    return names
        .filter((one) => new RegExp(`(^|[^A-Za-z0-9])${one.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}([^A-Za-z0-9]|$)`).test(text))
        .sort((a, b) => text.indexOf(a) - text.indexOf(b) || b.length - a.length)[0];
}
