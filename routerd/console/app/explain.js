/**
 * Where a message to an address would go from one router, and why, from what management tells.
 *
 * The steps are those of a router: policy, link routes, the treatment of the address, exchanges, auto-links, consumers.
 * `routerstat --explain` explains by the same rules (`routerd/cli/manage/explanation.py`), and both are tested with the
 * same examples.
 */

import { anyOf, choice } from './candidates.js';
import { plural } from './format.js';
import { PREFIX } from './management.js';
import { best, canonical, matching, patternOf } from './patterns.js';
import { membership, rights } from './rights.js';

const ROWS_MAX = 20_000;
/** As the keys of addresses have them; `F` is that of the fallback destination. */
const PHASES = [...'0123456789F'];
const LINK_COLUMNS = [
    'identity', 'connectionId', 'linkType', 'linkDir', 'owningAddr', 'undeliveredCount', 'unsettledCount', 'creditAvailable', 'zeroCreditSeconds',
];
const ADDRESS_COLUMNS = [
    'key', 'distribution', 'inProcess', 'subscriberCount', 'remoteCount', 'containerCount', 'remoteHostRouters', 'transitOutstanding',
];

/** @typedef {import('./management.js').Row} Row */
/** @typedef {import('./candidates.js').Candidate} Candidate */
/** @typedef {import('./candidates.js').Choice} Choice */
/**
 * @typedef {object} Facts what a router says, as far as it counts
 * @property {string} router
 * @property {string} [mode]
 * @property {string} [defaultDistribution]
 * @property {Row[]} [treatments]
 * @property {Row[]} [linkRoutes]
 * @property {Row[]} [autoLinks]
 * @property {Row[]} [exchanges]
 * @property {Row[]} [bindings]
 * @property {Row[]} [addresses] the address table
 * @property {Row[]} [links]
 * @property {Row[]} [nodes]
 * @property {Row[]} [connections]
 * @property {boolean} [hasPolicy]
 * @property {Row[] | null} [vhosts] null where they cannot be read
 * @property {Row[]} [vhostStats]
 * @property {string | null} [asker] the container-id of the connection that asks
 */
/** @typedef {{title: string, text: string, rows?: Row[]}} Step one reason */
/**
 * @typedef {object} Explanation what becomes of a message
 * @property {import('./candidates.js').Verdict} verdict
 * @property {string} sentence
 * @property {string} distribution
 * @property {string} phase
 * @property {Step[]} steps
 * @property {Candidate[]} candidates
 * @property {import('./rights.js').Right[]} rights
 */

/**
 * Ask a router for the facts.
 * @param {import('./management.js').Management} management
 * @param {string | null} path
 * @param {string} router
 * @returns {Promise<Facts>}
 */
export async function facts(management, path, router) {
    const query = (/** @type {string} */ type, /** @type {string[]} */ columns = []) => management.query(path, PREFIX + type, columns, { most: ROWS_MAX });
    // Routers of another kind lack some types.
    const ifKnown = (/** @type {Promise<Row[]>} */ rows) => rows.catch((error) => {
        if (error.status >= 400) return [];
        throw error;
    });
    const [general, policy, treatments, linkRoutes, autoLinks, exchanges, bindings, addresses, links, nodes, connections] = await Promise.all([
        // The live view does not say what the default is.
        ifKnown(management.query(path, `${PREFIX}router`, [], { operation: 'query' })),
        query('policy', ['enableVhostPolicy']),
        query('router.config.address'), query('router.config.linkRoute'), query('router.config.autoLink'),
        ifKnown(query('router.config.exchange')), ifKnown(query('router.config.binding')),
        query('router.address', ADDRESS_COLUMNS), query('router.link', LINK_COLUMNS),
        query('router.node', ['id', 'nextHop', 'cost']), query('connection', ['identity', 'container', 'role', 'host', 'user']),
    ]);
    const hasPolicy = policy[0]?.enableVhostPolicy === true;
    const unreadable = (/** @type {any} */ error) => {
        if (error.status === 401 || error.status === 403) return null;
        throw error;
    };
    const [vhosts, vhostStats] = hasPolicy
        ? await Promise.all([query('vhost').catch(unreadable), ifKnown(query('vhostStats', ['hostname', 'perUserState']))])
        : [[], []];
    return {
        router, treatments, linkRoutes, autoLinks, exchanges, bindings, addresses, links, nodes, connections, hasPolicy, vhosts, vhostStats,
        mode: general[0]?.mode ?? 'interior', defaultDistribution: general[0]?.defaultDistribution ?? 'balanced',
        asker: management.connection?.options?.container_id ?? null,
    };
}

/**
 * Follow what a router does with a message to an address.
 * @param {string} address
 * @param {Facts} known
 * @returns {Explanation}
 */
export function explain(address, known) {
    return new Explaining(canonical(address), known).explanation();
}

/** One address from the view of one router. */
class Explaining {
    /**
     * @param {string} address
     * @param {Facts} known
     */
    constructor(address, known) {
        this.address = address;
        this.known = known;
        this.router = known.router;
        this.isEdge = known.mode === 'edge';
        this.normal = known.defaultDistribution ?? 'balanced';
        this.connections = known.connections ?? [];
        /** @type {Map<string, Row>} */
        this.entries = new Map((known.addresses ?? []).map((one) => [one.key, one]));
        /** @type {Map<string, Row>} */
        this.nodes = new Map((known.nodes ?? []).map((one) => [one.id, one]));
        /** @type {string | null} */
        this.uplink = (this.isEdge && this.connections.find((one) => one.role === 'edge')?.container) || null;
        this.treatments = matching(known.treatments ?? [], address);
        /** @type {Row | undefined} */
        this.treatment = this.treatments[0];
        this.phase = String(this.treatment?.ingressPhase || 0);
        this.autoLinks = (known.autoLinks ?? []).filter((one) => canonical(String(one.address)) === address);
        this.exchange = (known.exchanges ?? []).find((one) => canonical(String(one.address)) === address && String(one.phase || 0) === this.phase);
        this.bindings = (known.bindings ?? []).filter((one) => this.exchange && one.exchangeName === this.exchange.name);
        /** @type {Step[]} */
        this.steps = [];
        /** @type {import('./rights.js').Right[]} */
        this.rights = [];
    }

    /** @returns {Explanation} */
    explanation() {
        this.weighPolicy();
        return this.atPlace() ?? this.withItsLink() ?? this.oneByOne();
    }

    /**
     * @param {import('./candidates.js').Verdict} verdict
     * @param {string} sentence
     * @param {string} distribution
     * @param {Candidate[]} [candidates]
     * @returns {Explanation}
     */
    ended(verdict, sentence, distribution, candidates = []) {
        return { verdict, sentence, distribution, phase: this.phase, steps: this.steps, candidates, rights: this.rights };
    }

    /**
     * @param {string} title
     * @param {string} text
     * @param {Row[]} [rows]
     */
    step(title, text, rows) {
        this.steps.push(rows ? { title, text, rows } : { title, text });
    }

    /**
     * @param {string} phase
     * @returns {Row}
     */
    entry(phase) {
        return this.entries.get(`M${phase}${this.address}`) ?? {};
    }

    // --- policy

    weighPolicy() {
        const { hasPolicy, vhosts, vhostStats, asker } = this.known;
        if (!hasPolicy) {
            this.step('Policy', 'There is no policy of virtual hosts: every client may send here.');
            return;
        }
        const on = 'The policy of virtual hosts is on';
        if (vhosts === null) {
            this.step('Policy', `${on}. This user may not read the virtual hosts.`);
            return;
        }
        const own = membership(asker ?? null, this.connections, vhostStats ?? [], vhosts ?? []);
        this.rights = rights(this.address, vhosts ?? [], own);
        let text = `${on}: a client may send here only if its group allows the address as a target.`;
        if (this.rights.every((one) => one.maySend === false)) text += ' No group allows it: add the address to the targets of a group.';
        this.step('Policy', `${text} ${this.ofAsker(own)}`);
    }

    /** @param {import('./rights.js').Membership | null} asker */
    ofAsker(asker) {
        const own = this.rights.find((one) => one.isAsker);
        if (!asker || !own) return 'The connection that asks has no group at this router.';
        const may = (/** @type {boolean | null} */ is) => (is ? 'may' : 'may not');
        const receive = `${own.maySend === own.mayReceive ? 'and' : 'but'} ${may(own.mayReceive)} receive from it`;
        return `You are ${asker.user} in group ${own.group} of vhost ${own.vhost}, and ${may(own.maySend)} send here, ${receive}.`;
    }

    // --- places

    /**
     * What becomes of a message whose address names a place; null for all other addresses.
     * @returns {Explanation | null}
     */
    atPlace() {
        const [word, ...parts] = this.address.split('/');
        const isOwn = this.address === '$management';
        if (!isOwn && (!['_local', '_topo', '_edge'].includes(word) || !parts.join('/'))) return null;
        this.step('Treatment', 'The address names a place, so no section address counts.');
        if (isOwn) return this.ended('routed', `It goes to the management of router ${this.router}.`, 'closest');
        if (word === '_local') return this.inside(parts.join('/'));
        const [router = '', ...rest] = word === '_topo' ? parts.slice(1) : parts;
        if (word === '_topo' && router === 'all') return this.ended('routed', 'Every router of the network gets a copy.', 'multicast');
        if (router === this.router) return this.inside(rest.join('/'));
        return word === '_edge' ? this.atEdge(router) : this.atRouter(router);
    }

    /** @param {string} text */
    inside(text) {
        return consumers(this.entries.get(`L${text}`))
            ? this.ended('routed', `It goes to ${text} at router ${this.router}.`, 'closest')
            : this.ended('nowhere', `It goes nowhere: router ${this.router} has no ${text}.`, 'closest');
    }

    /** @param {string} router */
    atRouter(router) {
        if (this.isEdge) return this.toUplink();
        if (isReached(this.nodes.get(router))) {
            const candidate = this.routerCandidate(router, '0', 0);
            return this.ended('routed', `It goes to router ${router}, ${candidate.words}.`, 'closest', [candidate]);
        }
        return this.ended('nowhere', `It goes nowhere: router ${this.router} cannot reach router ${router}.`, 'closest');
    }

    /** @param {string} router */
    atEdge(router) {
        if (this.isEdge) return this.toUplink();
        const entry = this.entries.get(`H${router}`);
        if (entry?.subscriberCount) return this.ended('routed', `It goes to edge router ${router}, which is connected here.`, 'closest');
        /** @type {string[]} */
        const routers = entry?.remoteHostRouters ?? [];
        if (routers.length) {
            const found = routers.map((one) => this.routerCandidate(one, '0', 0));
            return this.ended('routed', `It goes to router ${routers.join(' or ')}, to which edge router ${router} is connected.`, 'closest', found);
        }
        return this.ended('nowhere', `It goes nowhere: edge router ${router} is connected to no router that ${this.router} reaches.`, 'closest');
    }

    toUplink() {
        return this.uplink === null
            ? this.ended('nowhere', `It goes nowhere: ${this.noUplink()}`, 'closest')
            : this.ended('routed', `It goes to interior router ${this.uplink}, which knows the place.`, 'closest');
    }

    noUplink() {
        return `edge router ${this.router} is connected to no interior router. Look at its connector.`;
    }

    // --- link routes

    /**
     * What becomes of a link that is routed as a whole; null if messages are routed one by one.
     * @returns {Explanation | null}
     */
    withItsLink() {
        const configured = (this.known.linkRoutes ?? []).filter((one) => one.direction === 'in').map((row) => ({ pattern: patternOf(row), row }));
        const told = [...this.entries].filter(([key]) => 'CE'.includes(key[0])).map(([key, row]) => ({ pattern: patternOfKey(key), row }));
        const found = best([...configured, ...told], this.address).map((one) => one.row);
        if (!found.length) {
            const beyond = this.uplink === null ? '' : ' Its interior router may have some.';
            this.step('Link routes', `No link route for senders matches, so messages are routed one by one.${beyond}`);
            return null;
        }
        const routes = found.filter((one) => !('key' in one));
        const holders = found.filter((one) => 'key' in one);
        const what = routes.length ? `link route ${label(routes[0])}` : `a link route (${patternOfKey(holders[0].key)})`;
        this.step('Link routes', `${what[0].toUpperCase()}${what.slice(1)} takes precedence over the treatment of the address.`);
        const active = routes.filter((one) => one.operStatus === 'active');
        if (active.length || holders.some((one) => one.containerCount)) {
            const places = active.length ? [...new Set(active.map(placeOf))] : ['a container'];
            const candidates = places.map((name) => /** @type {Candidate} */ ({
                name, state: 'takes', words: 'takes links', phase: '0', cost: 0, outstanding: null, credit: null, way: null,
            }));
            return this.routedLink(anyOf(places), candidates);
        }
        const routers = [...new Set(holders.flatMap((one) => one.remoteHostRouters ?? []))].sort();
        if (routers.length) {
            const ways = routers.map((one) => this.routerCandidate(one, '0', null));
            return this.routedLink(`router ${anyOf(routers)}, which has a container for it`, ways);
        }
        if (this.uplink !== null) return this.routedLink(`interior router ${this.uplink}, if that has a container for it`, []);
        const lack = routes.length ? `Connect ${placeOf(routes[0])}.` : 'Connect one.';
        const reason = `no container is connected for ${what}. ${lack}`;
        return this.ended('refused', `The link of a sender is refused with qd:no-route-to-dest: ${reason}`, 'linkBalanced');
    }

    /**
     * @param {string} where
     * @param {Candidate[]} candidates
     */
    routedLink(where, candidates) {
        return this.ended('link', `The link of a sender is routed as a whole to ${where}; its messages go there.`, 'linkBalanced', candidates);
    }

    // --- messages one by one

    oneByOne() {
        const distribution = this.hops().length ? 'multicast' : this.configuredDistribution();
        this.step('Treatment', this.treatmentText(), this.treatments);
        if (distribution === 'unavailable') {
            return this.ended('refused', 'Nobody can use this address: its links are refused with amqp:not-found.', distribution);
        }
        this.exchangeStep();
        this.autoLinkSteps();
        this.consumerSteps();
        const candidates = PHASES.flatMap((phase) => [...this.here(phase), ...this.elsewhere(phase)]);
        const [verdict, sentence] = this.outcome(distribution, candidates);
        return this.ended(verdict, sentence, distribution, candidates);
    }

    /**
     * @param {string} distribution
     * @param {Candidate[]} candidates
     * @returns {Choice}
     */
    outcome(distribution, candidates) {
        const taking = candidates.filter((one) => one.phase === this.phase);
        if (this.hops().length) return this.byExchange(taking);
        if (taking.length) return choice(distribution, taking);
        if (this.uplink !== null && !this.entries.has(`M${this.phase}${this.address}`)) {
            // An edge router hears of consumers elsewhere once it has a producer.
            const why = `interior router ${this.uplink} decides, as edge router ${this.router} has no link of this address`;
            return ['routed', `It goes where ${why}. Explain it from there.`];
        }
        const fallback = candidates.filter((one) => one.phase === 'F').map((one) => one.name);
        if (fallback.length && this.hasFallback()) {
            return ['routed', `There is no consumer, so it goes to the fallback destination: ${anyOf(fallback)}.`];
        }
        const beyond = this.uplink === null ? '' : `, here or beyond interior router ${this.uplink}`;
        return ['nowhere', `It goes nowhere: there is no consumer${beyond}, so that a sender gets no credit. ${this.lack()}`];
    }

    configuredDistribution() {
        // Management has no word for unavailable.
        const found = String(this.treatment ? this.treatment.distribution ?? 'unavailable' : this.entry(this.phase).distribution ?? this.normal);
        return found === 'unavailable' && this.address.startsWith('_') ? 'balanced' : found;
    }

    hasFallback() {
        // The live view calls it otherwise than the section does.
        return Boolean(this.treatment?.fallback || this.treatment?.enableFallback);
    }

    treatmentText() {
        const { treatment } = this;
        if (this.hops().length) {
            return `${treatment ? `${label(treatment)} matches best` : 'No section address matches'}. The exchange at the address makes it multicast.`;
        }
        const distribution = this.configuredDistribution();
        if (!treatment) {
            const isNeeded = this.normal === 'unavailable' && this.address.startsWith('_');
            const whose = isNeeded ? 'as such an address is never unavailable'
                : distribution === this.normal ? 'the default of the router' : 'as other routers treat the address';
            return `No section address matches, so the distribution is ${distribution}, ${whose}.`;
        }
        let text = `${label(treatment)} matches best, so the distribution is ${distribution}.`;
        const egress = treatment.egressPhase || 0;
        if (treatment.waypoint || this.phase !== '0' || egress) {
            text += ` Messages come in at phase ${this.phase}, and consumers take those of phase ${egress}.`;
        }
        if (this.hasFallback()) text += ' A fallback destination gets what has no consumer.';
        if (treatment.resendReleased) text += ' A message that a consumer releases goes to another one.';
        return text;
    }

    // --- exchanges

    /**
     * Key, address and phase of all next hops; the alternate address comes last and has no key.
     * @returns {{key: string, hop: string, phase: number}[]}
     */
    hops() {
        const found = this.bindings.map((one) => ({ key: one.bindingKey || '#', hop: one.nextHopAddress, phase: one.nextHopPhase || 0 }));
        const exchange = this.exchange;
        if (exchange?.alternateAddress) found.push({ key: '', hop: exchange.alternateAddress, phase: exchange.alternatePhase || 0 });
        return found;
    }

    /** Next hops with a consumer. */
    nextHops() {
        return [...new Set(this.hops().filter(({ hop, phase }) => consumers(this.entries.get(`M${phase}${canonical(hop)}`))).map((one) => one.hop))];
    }

    exchangeStep() {
        if (!this.exchange) return;
        const reached = this.nextHops();
        const parts = this.hops().map(({ key, hop }) => `${key ? `subjects ${key}` : 'all others'} to ${hop}${reached.includes(hop) ? '' : ', which has no consumer'}`);
        this.step('Exchange', parts.length
            ? `Exchange ${this.exchange.name} sends messages on by their subjects: ${parts.join('; ')}.`
            : `Exchange ${this.exchange.name} has no binding: the address is like any other.`);
    }

    /**
     * @param {Candidate[]} taking
     * @returns {Choice}
     */
    byExchange(taking) {
        const name = this.exchange?.name;
        const reached = this.nextHops();
        if (!reached.length && !taking.length) {
            const hops = [...new Set(this.hops().map((one) => one.hop))];
            return ['nowhere', `It goes nowhere: exchange ${name} releases it, as no next hop has a consumer. Attach a consumer to ${anyOf(hops)}.`];
        }
        const bySubject = reached.length ? ` by its subject to ${anyOf(reached)}` : ' to nobody';
        const also = taking.length ? ` Copies go to ${plural(taking.length, 'consumer')} of the exchange's own address.` : '';
        return ['routed', `Exchange ${name} takes it and sends it on${bySubject}.${also}`];
    }

    // --- auto-links

    autoLinkSteps() {
        for (const one of this.autoLinks) {
            const way = one.direction === 'out' ? 'sends messages to' : 'brings messages from';
            const role = one.fallback ? 'as the fallback destination' : `in phase ${one.phase || 0}`;
            const error = one.lastError ? ` (${one.lastError})` : '';
            this.step('Auto-link', `${one.name} ${way} ${placeOf(one)} ${role}; it is ${one.operStatus}${error}.`);
        }
    }

    // --- consumers

    consumerSteps() {
        const brought = new Set(this.autoLinks.filter((one) => one.direction === 'in').map((one) => String(one.phase || 0)));
        for (const phase of PHASES) {
            const isKnown = this.entries.has(`M${phase}${this.address}`);
            const text = countText(this.entry(phase));
            if (phase === 'F') {
                if (isKnown || this.hasFallback()) this.step('Fallback destination', text || 'There is none.');
            } else if (phase === this.phase || isKnown || brought.has(phase)) {
                const at = phase === this.phase ? '' : ` of phase ${phase}`;
                this.step(`Consumers${at}`, text || `Router ${this.router} knows no consumer${at || ' of this address'}, here or elsewhere.`);
            }
        }
    }

    /**
     * @param {string} phase
     * @returns {Candidate[]}
     */
    here(phase) {
        const key = `M${phase}${this.address}`;
        const connections = new Map(this.connections.map((one) => [one.identity, one]));
        return (this.known.links ?? []).filter((one) => one.linkType === 'endpoint' && one.linkDir === 'out' && one.owningAddr === key).map((link) => {
            const connection = connections.get(link.connectionId);
            const kind = { edge: 'edge router ', 'route-container': 'container ' }[String(connection?.role)] ?? '';
            const credit = link.creditAvailable ?? 0;
            return {
                name: kind + (connection?.container || `connection ${link.connectionId}`),
                state: credit ? 'takes' : 'waits',
                words: credit ? 'takes messages' : `no credit for ${link.zeroCreditSeconds ?? 0} s`,
                phase, cost: 0, outstanding: (link.unsettledCount ?? 0) + (link.undeliveredCount ?? 0), credit, way: null,
                href: ['links', this.router, link.identity],
            };
        });
    }

    /**
     * @param {string} phase
     * @returns {Candidate[]}
     */
    elsewhere(phase) {
        const entry = this.entry(phase);
        /** @type {string[]} */
        const routers = entry.remoteHostRouters ?? [];
        const outstanding = (entry.transitOutstanding ?? []).reduce((/** @type {number} */ all, /** @type {number} */ one) => all + one, 0);
        // Management tells it of each way, but not of which.
        const isKnown = !outstanding || new Set(routers.map((one) => this.way(one))).size === 1;
        return routers.map((one) => this.routerCandidate(one, phase, isKnown ? outstanding : null));
    }

    /**
     * @param {string} router
     * @returns {string}
     */
    way(router) {
        return this.nodes.get(router)?.nextHop || router;
    }

    /**
     * @param {string} router
     * @param {string} phase
     * @param {number | null} outstanding
     * @returns {Candidate}
     */
    routerCandidate(router, phase, outstanding) {
        const way = this.way(router);
        const words = this.isEdge ? 'by the uplink' : way === router ? 'over a trunk' : `by way of ${way}`;
        return {
            name: `${this.isEdge ? 'interior router' : 'router'} ${router}`, state: 'next', words, phase,
            cost: this.nodes.get(router)?.cost ?? null, outstanding, credit: null, way, href: ['routers', router],
        };
    }

    /** What is missing where there is nobody, and what to do. */
    lack() {
        const idle = this.autoLinks.find((one) => one.direction === 'out' && one.operStatus !== 'active');
        if (idle) return `Auto-link ${idle.name} is ${idle.operStatus}${idle.lastError ? `: ${idle.lastError}` : ''}. Connect ${placeOf(idle)}.`;
        const others = PHASES.filter((phase) => phase !== 'F' && phase !== this.phase && consumers(this.entry(phase)));
        if (others.length) {
            return `There are consumers in phase ${others.join(', ')} only: an auto-link has to take messages in phase ${this.phase}.`;
        }
        if (this.isEdge && this.uplink === null) return this.noUplink().replace(/^e/, 'E');
        const similar = this.similar();
        if (similar.length) return `There are consumers of ${anyOf(similar)}: addresses are the same only if every character is.`;
        const lost = [...this.nodes.values()].filter((one) => !isReached(one)).map((one) => one.id).sort();
        const beyond = lost.length ? ` Consumers at router ${anyOf(lost)}, which cannot be reached now, do not count.` : '';
        const fallback = this.hasFallback() ? ' A fallback destination would get it, if there was one.' : '';
        return `Attach a consumer to the address at any router.${fallback}${beyond}`;
    }

    similar() {
        const wanted = folded(this.address);
        return [...this.entries]
            .filter(([key, entry]) => key.startsWith('M0') && key.slice(2) !== this.address && folded(key.slice(2)) === wanted && consumers(entry))
            .map(([key]) => key.slice(2));
    }
}

// --- words and numbers

/** @param {Row | undefined} entry */
function consumers(entry) {
    return (entry?.subscriberCount || 0) + (entry?.remoteCount || 0) + (entry?.inProcess || 0);
}

/**
 * The number of consumers in words; nothing if there is none.
 * @param {Row} entry
 */
function countText(entry) {
    if (!consumers(entry)) return '';
    const others = entry.remoteCount || 0;
    const parts = [`${entry.subscriberCount || 0} at this router`, `${others} other ${others === 1 ? 'router has' : 'routers have'} some`];
    if (entry.inProcess) parts.push(`${entry.inProcess} inside the router`);
    return `${parts.join(', ')}.`;
}

/** @param {Row | undefined} node */
function isReached(node) {
    return node !== undefined && ((node.cost ?? null) !== null || node.nextHop === '(self)');
}

/** @param {Row} entity */
function label(entity) {
    return `${entity.name} (${patternOf(/** @type {any} */ (entity))})`;
}

/**
 * The container that a link route or an auto-link means.
 * @param {Row} use
 */
function placeOf(use) {
    if (use.containerId) return `container ${use.containerId}`;
    return use.connection ? `the container at ${use.connection}` : 'a container';
}

/** @param {string} key */
function patternOfKey(key) {
    return key[0] === 'C' ? `${key.slice(1)}/#` : key.slice(1);
}

/** @param {string} address */
function folded(address) {
    return address.replace(/\//g, '.').replace(/^\.+|\.+$/g, '').toLowerCase();
}
