/** Those that may get a message, and the choice among them. */

import { plural } from './format.js';

const NAMES_MAX = 4;

/**
 * A consumer here, or a router with consumers: it has credit, has none, or is the next router.
 * @typedef {object} Candidate
 * @property {string} name
 * @property {'takes' | 'waits' | 'next'} state
 * @property {string} words
 * @property {string} phase
 * @property {number | null} cost
 * @property {number | null} outstanding
 * @property {number | null} credit
 * @property {string | null} way the neighbour on the way to another router
 * @property {string[]} [href]
 */
/** @typedef {'routed' | 'waits' | 'link' | 'refused' | 'nowhere'} Verdict */
/** @typedef {[Verdict, string]} Choice a verdict, and who gets a message */

/**
 * @param {string} distribution
 * @param {Candidate[]} candidates
 * @returns {Choice}
 */
export function choice(distribution, candidates) {
    if (distribution === 'multicast') return multicast(candidates);
    return distribution === 'closest' ? closest(candidates) : balanced(candidates);
}

/**
 * @param {Candidate[]} candidates
 * @returns {Choice}
 */
function balanced(candidates) {
    const here = candidates.filter((one) => one.state === 'takes');
    const remote = candidates.filter((one) => one.state === 'next');
    const able = [...here, ...remote];
    if (!able.length) return ['waits', 'It waits here until one of the consumers gives credit.'];
    if (able.length === 1) return ['routed', `It goes to ${able[0].name}, the only one that can take it now.`];
    const why = 'Unsettled deliveries count, and the cost of the way to other routers.';
    if (remote.some((one) => one.outstanding === null)) {
        const ways = plural(new Set(remote.map((one) => one.way)).size, 'way');
        return ['routed', `It goes to the least busy of ${plural(here.length, 'consumer')} here and ${ways}. ${why}`];
    }
    const least = Math.min(...able.map(load));
    // A consumer here is preferred to a way with the same load.
    const ours = here.filter((one) => load(one) === least);
    const best = ours.length ? ours : remote.filter((one) => load(one) === least);
    return ['routed', `It goes to the least busy: now ${anyOf(best.map((one) => one.name))}. ${why}`];
}

/**
 * @param {Candidate[]} candidates
 * @returns {Choice}
 */
function multicast(candidates) {
    const here = candidates.filter((one) => one.state !== 'next');
    const ways = [...new Set(candidates.filter((one) => one.state === 'next').map((one) => one.way))];
    const parts = here.length ? [`to ${plural(here.length, 'consumer')} at this router`] : [];
    if (ways.length) parts.push(`by ${plural(ways.length, 'way')} to other routers (${ways.join(', ')})`);
    const waiting = here.filter((one) => one.state === 'waits').length;
    const wait = waiting ? ` Those without credit (${waiting}) hold up its settlement.` : '';
    return ['routed', `Copies go ${parts.join(' and ')}.${wait}`];
}

/**
 * @param {Candidate[]} candidates
 * @returns {Choice}
 */
function closest(candidates) {
    const here = candidates.filter((one) => one.state !== 'next');
    const ready = here.filter((one) => one.state === 'takes');
    if (ready.length) {
        const taking = here.length === 1 ? ready[0].name : `one of ${here.length} consumers at this router, which take turns`;
        return ['routed', `It goes to ${taking}. Consumers here are the closest.`];
    }
    if (here.length) {
        return ['waits', 'It waits here: the consumers at this router are the closest, and none of them has credit.'];
    }
    const known = candidates.map((one) => one.cost).filter((cost) => cost !== null);
    const least = known.length ? Math.min(.../** @type {number[]} */ (known)) : null;
    const names = candidates.filter((one) => one.cost === least).map((one) => one.name);
    return ['routed', `It goes to ${anyOf(names)}, at the lowest cost${least === null ? '' : `, ${least}`}.`];
}

/** @param {Candidate} candidate */
function load(candidate) {
    return (candidate.outstanding ?? 0) + (candidate.cost ?? 0);
}

/**
 * Names as one text, the first few if there are many.
 * @param {string[]} names
 */
export function anyOf(names) {
    return names.slice(0, NAMES_MAX).join(' or ') + (names.length > NAMES_MAX ? ' and others' : '');
}
