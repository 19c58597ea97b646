/**
 * Patterns of addresses, as routers match them: words between `.` or `/`, `*` for one word, `#` for any number.
 *
 * Of several that match, the first place where their kinds differ decides: a word goes before `*`, that before the end,
 * and the end before `#`.
 */

const KINDS = /** @type {Record<string, number>} */ ({ '*': 1, '#': 3 });
const END = 2;

/** @param {string} text */
export function wordsOf(text) {
    const trimmed = text.replace(/\//g, '.').replace(/^\.+|\.+$/g, '');
    return trimmed ? trimmed.split('.') : [];
}

/**
 * @param {string} pattern
 * @param {string} address
 */
export function matches(pattern, address) {
    const words = wordsOf(address);
    let places = new Set([0]);
    for (const token of wordsOf(pattern)) {
        const next = new Set();
        for (const place of places) {
            if (token === '#') {
                for (let to = place; to <= words.length; to++) next.add(to);
            } else if (place < words.length && (token === '*' || (token === words[place] && token !== '#'))) {
                next.add(place + 1);
            }
        }
        places = next;
    }
    return places.has(words.length);
}

/**
 * @param {string} left
 * @param {string} right
 */
export function compare(left, right) {
    const [a, b] = [simplest(wordsOf(left)), simplest(wordsOf(right))];
    for (let index = 0; index <= Math.max(a.length, b.length); index++) {
        const difference = kind(a, index) - kind(b, index);
        if (difference) return difference;
    }
    const [one, other] = [a.join('.'), b.join('.')];
    return one < other ? -1 : one > other ? 1 : 0;
}

/**
 * The tokens of a pattern in the form that is the same for all that say the same: no `#.#`, no `#.*`.
 * @param {string[]} tokens
 */
export function simplest(tokens) {
    const found = [];
    let hasAnyNumber = false;
    for (const token of tokens) {
        if (token === '#') {
            hasAnyNumber = true;
            continue;
        }
        if (hasAnyNumber && token !== '*') {
            found.push('#');
            hasAnyNumber = false;
        }
        found.push(token);
    }
    return hasAnyNumber ? [...found, '#'] : found;
}

/**
 * @param {string[]} tokens
 * @param {number} index
 */
function kind(tokens, index) {
    return index < tokens.length ? KINDS[tokens[index]] ?? 0 : END;
}

/**
 * The pattern that an entity with a prefix or a pattern has.
 * @param {{prefix?: string | null, pattern?: string | null}} entity
 */
export function patternOf(entity) {
    return entity.pattern || (entity.prefix ? `${entity.prefix}/#` : '');
}

/**
 * Those that match an address, the one that counts first.
 * @template {{prefix?: string | null, pattern?: string | null}} T
 * @param {T[]} entities
 * @param {string} address
 * @returns {T[]}
 */
export function matching(entities, address) {
    return entities
        .filter((one) => patternOf(one) && matches(patternOf(one), address))
        .sort((left, right) => compare(patternOf(left), patternOf(right)));
}

/**
 * Those of the pattern that counts.
 * @template {{pattern: string}} T
 * @param {T[]} entities
 * @param {string} address
 * @returns {T[]}
 */
export function best(entities, address) {
    const found = matching(entities, address);
    const words = (/** @type {T} */ one) => simplest(wordsOf(one.pattern)).join('.');
    return found.filter((one) => words(one) === words(found[0]));
}

/**
 * An address without scheme, host and leading slash.
 * @param {string} address
 */
export function routed(address) {
    const rest = /^amqps?:/.test(address) ? address.slice(address.indexOf(':') + 1) : address;
    if (rest.startsWith('//')) return rest.slice(2).includes('/') ? rest.slice(rest.indexOf('/', 2) + 1) : '';
    return rest.replace(/^\//, '');
}

/**
 * An address as routers have it: without a separator at its end as well.
 * @param {string} address
 */
export function canonical(address) {
    return routed(address).replace(/[./]$/, '');
}
