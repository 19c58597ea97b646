/** What needs attention, the most urgent first, from what is known of the network. */

import { clock, count, day, microseconds, plural } from './format.js';
import { sum } from './mesh.js';
import { link } from './route.js';

const LAG_WARNS_US = 100_000;
/** For how long something that has happened is told. */
const RECENT_MS = 5 * 60_000;
const DAY_MS = 24 * 3600_000;
/** When it is warned of the end of a certificate, and when that becomes urgent; the alerts have the same. */
const EXPIRY_WARNS_MS = 14 * DAY_MS;
const EXPIRY_URGES_MS = 2 * DAY_MS;

/** @typedef {'bad' | 'warn' | 'info'} Severity */
/** @typedef {{severity: Severity, router: string, title: string, advice: string, href: string, others?: string[]}} Finding */
/** @typedef {import('./mesh.js').RouterView} RouterView */

const ORDER = { bad: 0, warn: 1, info: 2 };

/**
 * @param {import('./mesh.js').Mesh} mesh
 * @returns {Finding[]}
 */
export function findings(mesh) {
    /** @type {Finding[]} */
    const found = [];
    for (const router of mesh.list) {
        if (router.state === 'lost') {
            found.push({
                severity: 'bad', router: router.id, title: `Router ${router.id} has left the network at ${clock(router.lostAt)}`,
                advice: 'See whether its process runs and whether its trunks can connect. If it is gone for good, forget it in its view.',
                href: link('routers', [router.id]),
            });
        } else if (router.state === 'silent') {
            found.push({
                severity: 'bad', router: router.id, title: `Router ${router.id} does not answer`,
                advice: router.error || 'It may be busy, or on its way down.', href: link('routers', [router.id]),
            });
        } else {
            found.push(...figures(router), ...configured(router), ...certificates(router, mesh.clock()), ...happened(router, mesh.clock() - RECENT_MS));
        }
    }
    for (const trunk of mesh.trunks()) {
        if (!trunk.isUp && [trunk.a, trunk.b].every((id) => mesh.routers.get(id)?.state === 'up')) {
            found.push({
                severity: 'bad', router: trunk.a, title: `The trunk between ${trunk.a} and ${trunk.b} is down since ${clock(trunk.lostAt)}`,
                advice: 'Messages take other ways as long as there are some. Look at the connector of the side that connects.',
                href: link('topology'),
            });
        }
    }
    return joined(found).sort((a, b) => ORDER[a.severity] - ORDER[b.severity] || a.router.localeCompare(b.router, 'en', { numeric: true }));
}

/**
 * Where reports of recorded decisions are, as configured.
 * @param {Pick<RouterView, 'look'>[]} routers
 * @returns {string[]}
 */
export function reports(routers) {
    const records = routers.flatMap((router) => router.look?.record ?? []).filter((one) => one.status !== 'off');
    // Another router says it: only pages are linked to.
    const pages = records.map((one) => String(one.reportUrl ?? '')).filter((one) => /^https?:\/\//.test(one));
    return [...new Set(pages)].sort();
}

/**
 * What is the same at several routers is said once.
 * @param {Finding[]} found
 * @returns {Finding[]}
 */
function joined(found) {
    /** @type {Map<string, Finding>} */
    const byText = new Map();
    for (const one of found) {
        const key = `${one.severity} ${one.title} ${one.advice}`;
        const same = byText.get(key);
        if (same) same.others = [...(same.others ?? []), one.router];
        else byText.set(key, one);
    }
    return [...byText.values()];
}

/**
 * @param {RouterView} router
 * @returns {Finding[]}
 */
function figures(router) {
    /** @type {Finding[]} */
    const found = [];
    const now = router.now ?? {};
    if (now.deliveriesStuck > 0) {
        found.push({
            severity: 'warn', router: router.id, title: `${plural(now.deliveriesStuck, 'delivery', 'deliveries')} under way for more than 10 s`,
            advice: 'A consumer has taken them and does not settle. Sort the links by what is stuck.',
            href: link('links', [], { router: router.id, sort: '-deliveriesStuck' }),
        });
    }
    if (now.linksBlocked > 0) {
        found.push({
            severity: 'warn', router: router.id, title: `${plural(now.linksBlocked, 'outgoing link')} without credit for 10 s`,
            advice: 'Consumers give no credit, so that messages wait for them. Sort the links by the time without credit.',
            href: link('links', [], { router: router.id, sort: '-zeroCreditSeconds' }),
        });
    }
    const dropped = router.history.rate('droppedPresettledDeliveries', 30_000) ?? 0;
    if (dropped > 0) {
        found.push({
            severity: 'warn', router: router.id, title: 'Settled messages are dropped',
            advice: 'Producers send settled messages faster than consumers take them, or to addresses without consumers.',
            href: link('links', [], { router: router.id, sort: '-droppedPresettledCount' }),
        });
    }
    return found;
}

/**
 * @param {RouterView} router
 * @returns {Finding[]}
 */
function configured(router) {
    /** @type {Finding[]} */
    const found = [];
    for (const one of router.look?.connectors ?? []) {
        if (one.connectionStatus && one.connectionStatus !== 'SUCCESS') {
            found.push({
                severity: one.connectionMsg ? 'bad' : 'warn', router: router.id,
                title: `Connector ${one.name} to ${one.host}:${one.port} is not connected`,
                advice: one.connectionMsg || 'It has not connected yet.',
                href: link('entities', ['connector', one.identity], { router: router.id }),
            });
        }
    }
    for (const one of router.look?.autoLinks ?? []) {
        if (one.operStatus === 'failed') {
            found.push({
                severity: 'bad', router: router.id, title: `Auto-link ${one.name} was refused by its container`,
                advice: one.lastError || 'The container gave no reason.', href: link('link-routes', [], { router: router.id }),
            });
        }
    }
    const inactive = (router.look?.linkRoutes ?? []).filter((one) => one.operStatus === 'inactive');
    if (inactive.length) {
        found.push({
            severity: 'info', router: router.id, title: `${plural(inactive.length, 'link route')} without a container`,
            advice: `No container is connected for ${inactive.slice(0, 3).map((one) => one.name).join(', ')}; links to it go to other routers, or are refused.`,
            href: link('link-routes', [], { router: router.id }),
        });
    }
    const late = Math.max(0, ...(router.look?.actors ?? []).map((one) => one.eventLoopLagMaxMicroseconds ?? 0));
    if (late > LAG_WARNS_US) {
        found.push({
            severity: 'warn', router: router.id, title: `An event loop was late by ${microseconds(late)}`,
            advice: 'The router has more to do than its cores can, or its host is busy.', href: link('routers', [router.id]),
        });
    }
    const errors = sum(router.look?.record ?? [], 'errorCount');
    if (errors) {
        found.push({
            severity: 'warn', router: router.id, title: 'Decisions can\'t be recorded',
            advice: String(router.look?.record[0].status), href: link('entities', ['record'], { router: router.id }),
        });
    }
    return found;
}

/**
 * @param {RouterView} router
 * @param {number} now
 * @returns {Finding[]}
 */
function certificates(router, now) {
    /** @type {Finding[]} */
    const found = [];
    for (const one of router.look?.certificates ?? []) {
        const at = 1000 * one.expiry;
        if (at - now < EXPIRY_WARNS_MS) {
            found.push({
                severity: at - now < EXPIRY_URGES_MS ? 'bad' : 'warn', router: router.id,
                title: `The certificate of profile ${one.profile} ${at < now ? 'expired' : 'expires'} on ${day(at)}`,
                advice: 'Put a new one in the place of its files. New connections use it; no restart is needed.',
                href: link('entities', ['sslProfile', `sslProfile/${one.profile}`], { router: router.id }),
            });
        }
    }
    return found;
}

/**
 * @param {RouterView} router
 * @param {number} since
 * @returns {Finding[]}
 */
function happened(router, since) {
    const grown = (/** @type {string} */ name) => router.actors.growth(name, since);
    /** @type {Finding[]} */
    const found = [];
    if (grown('restarts')) {
        found.push({
            severity: 'bad', router: router.id, title: 'A connection actor was started again',
            advice: 'Its connections were lost. Its log says why it ended.', href: link('log', [], { router: router.id, level: 'warning' }),
        });
    }
    if (grown('errorCount')) {
        found.push({
            severity: 'warn', router: router.id, title: `${plural(grown('errorCount'), 'error')} in the log lately`,
            advice: 'An error is something that an operator has to do something about.', href: link('log', [], { router: router.id, level: 'error' }),
        });
    }
    if (grown('authenticationFailures')) {
        found.push({
            severity: 'warn', router: router.id, title: `${plural(grown('authenticationFailures'), 'client')} could not prove who they are`,
            advice: 'A password is wrong or has changed; the log names the hosts.', href: link('log', [], { router: router.id }),
        });
    }
    if (grown('totalDenials')) {
        found.push({
            severity: 'warn', router: router.id, title: `Policy refused ${count(grown('totalDenials'))} of what clients asked for`,
            advice: 'The log says who asked for what, under POLICY.', href: link('log', [], { router: router.id, module: 'POLICY' }),
        });
    }
    return found;
}
