/** The lists of what is there now: connections, links and addresses. */

import { html, useCallback } from '../html.js';
import { addressClass, addressName, addressPhase, plural, rate, seconds, short } from '../format.js';
import { link, replaceQuery } from '../route.js';
import { Choice, Empty, Status } from '../parts/bits.js';
import { List } from '../parts/list.js';

/** @typedef {import('../management.js').Row} Row */
/** @typedef {import('../parts/table.js').Column} Column */
/** @typedef {{app: import('../main.js').App, route: import('../route.js').Route}} ViewProps */

/** @type {Column[]} */
const CONNECTION_COLUMNS = [
    { key: 'container', title: 'Container', value: (row) => row.container || '(not opened)' },
    { key: 'identity', title: 'No.', width: 70, isNumber: true, value: (row) => Number(row.identity), cell: (row) => row.identity, from: 'medium', about: 'As the log has it: [C7]' },
    { key: 'operStatus', title: 'State', width: 92, cell: (row) => html`<${Status} tone=${row.opened === false ? 'warn' : row.operStatus === 'up' ? 'ok' : 'idle'}>${row.opened === false ? 'opening' : row.operStatus}<//>` },
    { key: 'role', title: 'Role', width: 124, from: 'narrow' },
    { key: 'dir', title: 'Dir', width: 54, from: 'medium', about: 'in: the peer connected; out: the router did' },
    { key: 'host', title: 'Host', width: 176, from: 'narrow' },
    { key: 'user', title: 'User', width: 116, from: 'medium' },
    { key: 'sasl', title: 'SASL', width: 120, from: 'wide', value: (row) => row.sasl ?? '' },
    { key: 'security', title: 'TLS', width: 90, from: 'medium', value: (row) => (row.isEncrypted ? row.sslProto || 'yes' : 'no') },
    { key: 'lastDlvSeconds', title: 'Last delivery', width: 112, isNumber: true, from: 'wide', cell: (row) => (row.lastDlvSeconds === null ? '–' : `${seconds(row.lastDlvSeconds)} ago`) },
    { key: 'uptimeSeconds', title: 'Up', width: 92, isNumber: true, from: 'narrow', cell: (row) => seconds(row.uptimeSeconds) },
];

/** @param {ViewProps} props */
export function Connections({ app, route }) {
    const { role } = route.query;
    const keep = useCallback((/** @type {Row} */ row) => !role || row.role === role, [role]);
    return html`<${List} app=${app} route=${route} title="Connections" about="Who is connected: clients, containers, other routers." typeName="connection"
        columns=${CONNECTION_COLUMNS} keep=${role ? keep : undefined} words=${(/** @type {Row} */ row) => `${row.container} ${row.host} ${row.user} ${row.role} ${row.router}`}
        detailTitle=${(/** @type {Row | undefined} */ row) => row?.container}
        tools=${html`<${Choice} label="Role" value=${role ?? ''} onChange=${(/** @type {string} */ value) => replaceQuery(route, { role: value })}
            options=${[['', 'All roles'], ['normal', 'Clients'], ['route-container', 'Containers'], ['inter-router', 'Routers'], ['edge', 'Edge']]} />`}
        empty=${html`<${Empty} title="Nobody is connected">A client connects to a listener with role normal; see the entities of type listener for ports.<//>`}
        detail=${(/** @type {Row} */ row) => html`<p class="links-to"><a href=${link('links', [], { router: route.path[0], connection: row.identity })}>Its links</a>
            <a href=${link('log', [], { router: route.path[0], filter: `[C${row.identity}]` })}>Its log</a></p>`} />`;
}

const LINK_ATTRIBUTES = [
    'identity', 'name', 'linkName', 'linkType', 'linkDir', 'owningAddr', 'connectionId', 'capacity', 'undeliveredCount', 'unsettledCount', 'deliveryCount',
    'settleRate', 'creditAvailable', 'zeroCreditSeconds', 'deliveriesStuck', 'operStatus', 'acceptedCount', 'rejectedCount', 'releasedCount',
    'modifiedCount', 'droppedPresettledCount',
];

/** @type {Column[]} */
const LINK_COLUMNS = [
    { key: 'owningAddr', title: 'Address', value: (row) => addressName(row.owningAddr), cell: (row) => (row.owningAddr ? addressName(row.owningAddr) : 'any address') },
    { key: 'identity', title: 'No.', width: 70, isNumber: true, from: 'medium', value: (row) => Number(row.identity), cell: (row) => row.identity, about: 'As the log has it: [L12]' },
    { key: 'linkDir', title: 'Dir', width: 56, about: 'in: deliveries enter the router; out: they leave it' },
    { key: 'linkType', title: 'Type', width: 112, from: 'wide' },
    { key: 'connectionId', title: 'Connection', width: 92, from: 'medium', cell: (row) => (row.connectionId ? html`<a href=${link('connections', [row.router, row.connectionId], { router: row.router })}>C${row.connectionId}</a>` : '–') },
    { key: 'settleRate', title: 'Settled', width: 84, isNumber: true, cell: (row) => rate(row.settleRate), about: 'Settlements a second, over the last 5 s' },
    { key: 'unsettledCount', title: 'Unsettled', width: 88, isNumber: true, from: 'narrow', cell: (row) => short(row.unsettledCount) },
    { key: 'undeliveredCount', title: 'Waiting', width: 80, isNumber: true, from: 'medium', cell: (row) => short(row.undeliveredCount), about: 'Deliveries that wait now' },
    { key: 'creditAvailable', title: 'Credit', width: 76, isNumber: true, from: 'narrow', cell: (row) => short(row.creditAvailable) },
    { key: 'zeroCreditSeconds', title: 'No credit', width: 90, isNumber: true, from: 'narrow', cell: (row) => (row.zeroCreditSeconds ? html`<${Status} tone=${row.zeroCreditSeconds >= 10 ? 'warn' : 'idle'}>${seconds(row.zeroCreditSeconds)}<//>` : '–') },
    { key: 'deliveriesStuck', title: 'Stuck', width: 74, isNumber: true, from: 'medium', cell: (row) => (row.deliveriesStuck ? html`<${Status} tone="warn">${short(row.deliveriesStuck)}<//>` : '–') },
    { key: 'droppedPresettledCount', title: 'Dropped', width: 80, isNumber: true, from: 'wide', cell: (row) => short(row.droppedPresettledCount) },
    { key: 'deliveryCount', title: 'Deliveries', width: 92, isNumber: true, from: 'narrow', cell: (row) => short(row.deliveryCount) },
];

/** @param {ViewProps} props */
export function Links({ app, route }) {
    const { type = 'endpoint', connection } = route.query;
    const keep = useCallback((/** @type {Row} */ row) => (type === 'all' || row.linkType === type) && (!connection || row.connectionId === connection), [type, connection]);
    return html`<${List} app=${app} route=${route} title="Links"
        about=${connection ? html`The links of connection C${connection}. <a href="#" onClick=${(/** @type {any} */ event) => { event.preventDefault(); replaceQuery(route, { connection: null }); }}>Show those of all connections</a>` : 'What deliveries enter and leave by.'}
        typeName="router.link" attributes=${LINK_ATTRIBUTES} columns=${LINK_COLUMNS} keep=${keep} sort="-settleRate"
        words=${(/** @type {Row} */ row) => `${row.owningAddr} ${row.linkName} ${row.linkDir} ${row.router}`}
        detailTitle=${(/** @type {Row | undefined} */ row) => (row?.owningAddr ? addressName(row.owningAddr) : row?.linkName)}
        tools=${html`<${Choice} label="Type of links" value=${type} onChange=${(/** @type {string} */ value) => replaceQuery(route, { type: value })}
            options=${[['endpoint', 'Of clients'], ['inter-router', 'Of trunks'], ['router-control', 'For control'], ['all', 'All links']]} />`}
        empty=${html`<${Empty} title="No links">Links appear when clients attach senders and receivers.<//>`}
        detail=${(/** @type {Row} */ row) => html`<p class="links-to">
            ${row.connectionId && html`<a href=${link('connections', [route.path[0], row.connectionId], { router: route.path[0] })}>Its connection</a>`}
            ${row.owningAddr && html`<a href=${link('addresses', [route.path[0], row.owningAddr], { router: route.path[0] })}>Its address</a>`}
            <a href=${link('log', [], { router: route.path[0], filter: `[L${row.identity}]` })}>Its log</a></p>`} />`;
}

const ADDRESS_ATTRIBUTES = [
    'identity', 'name', 'key', 'distribution', 'inProcess', 'subscriberCount', 'remoteCount', 'containerCount', 'deliveriesIngress', 'deliveriesEgress',
    'deliveriesTransit', 'deliveriesRedirectedToFallback', 'priority',
];

/** @type {Column[]} */
const ADDRESS_COLUMNS = [
    { key: 'key', title: 'Address', value: (row) => addressName(row.key) },
    { key: 'class', title: 'Class', width: 104, from: 'medium', value: (row) => addressClass(row.key) },
    { key: 'phase', title: 'Phase', width: 66, from: 'wide', value: (row) => addressPhase(row.key) },
    { key: 'distribution', title: 'Distribution', width: 108, from: 'narrow' },
    { key: 'subscriberCount', title: 'Here', width: 66, isNumber: true, cell: (row) => short(row.subscriberCount), about: 'Links of consumers at this router' },
    { key: 'remoteCount', title: 'Routers', width: 76, isNumber: true, cell: (row) => short(row.remoteCount), about: 'Other routers with consumers' },
    { key: 'containerCount', title: 'Containers', width: 94, isNumber: true, from: 'wide', cell: (row) => short(row.containerCount) },
    { key: 'inProcess', title: 'Inside', width: 70, isNumber: true, from: 'wide', cell: (row) => short(row.inProcess), about: 'Consumers inside the router' },
    { key: 'deliveriesIngress', title: 'In', width: 80, isNumber: true, cell: (row) => short(row.deliveriesIngress), about: 'Deliveries received from clients' },
    { key: 'deliveriesEgress', title: 'Out', width: 80, isNumber: true, from: 'narrow', cell: (row) => short(row.deliveriesEgress), about: 'Deliveries sent to clients' },
    { key: 'deliveriesTransit', title: 'Transit', width: 80, isNumber: true, from: 'medium', cell: (row) => short(row.deliveriesTransit), about: 'Deliveries sent on to other routers' },
];

/** @param {Row} row */
const isMobile = (row) => row.key?.[0] === 'M' && !row.key.includes('$management');
/** @param {Row} row */
const isAny = (row) => row !== undefined;

/** @param {ViewProps} props */
export function Addresses({ app, route }) {
    const kind = route.query.kind ?? 'mobile';
    return html`<${List} app=${app} route=${route} title="Addresses" about="What messages are sent to, and who wants them." typeName="router.address"
        attributes=${ADDRESS_ATTRIBUTES} columns=${ADDRESS_COLUMNS} keep=${kind === 'mobile' ? isMobile : isAny} sort="key"
        words=${(/** @type {Row} */ row) => `${row.key} ${row.distribution} ${row.router}`} detailTitle=${(/** @type {Row | undefined} */ row) => addressName(row?.key)}
        tools=${html`<${Choice} label="Class of addresses" value=${kind} onChange=${(/** @type {string} */ value) => replaceQuery(route, { kind: value })}
            options=${[['mobile', 'Of clients'], ['all', 'All, with those of routers']]} />`}
        empty=${html`<${Empty} title="No addresses of clients">An address is known while a client or another router has a consumer for it, or a producer here.<//>`}
        detail=${(/** @type {Row} */ row) => html`<p class="links-to">
            <a href=${link('explain', [], { router: route.path[0], address: addressName(row.key) })}>Explain</a>
            <a href=${link('links', [], { router: route.path[0], type: 'all', filter: addressName(row.key) })}>Its links</a></p>
            ${row.remoteHostRouters?.length > 0 && html`<h3>Other routers with consumers</h3>
                <p class="tags">${row.remoteHostRouters.map((/** @type {string} */ id) => html`<a class="tag" href=${link('routers', [id])}>${id}</a>`)}</p>`}
            <p class="muted small">${plural(row.subscriberCount ?? 0, 'consumer')} at this router, ${plural(row.remoteCount ?? 0, 'other router')} with some.</p>`} />`;
}
