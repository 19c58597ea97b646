/** Link routes, auto-links and exchanges of a router, and how they fare. */

import { html } from '../html.js';
import { short } from '../format.js';
import { patternOf } from '../patterns.js';
import { link } from '../route.js';
import { Empty, Head, Loading, Panel, Problem, Status } from '../parts/bits.js';
import { chosenRouters, rowsOf } from '../parts/list.js';
import { Table } from '../parts/table.js';
import { useLoad, useMesh } from '../parts/use.js';

/** @typedef {import('../management.js').Row} Row */

/** @param {Row} row */
function status(row) {
    const tone = { active: 'ok', failed: 'bad', inactive: 'idle', attaching: 'warn', quiescing: 'idle', idle: 'idle' }[/** @type {string} */ (row.operStatus)] ?? 'idle';
    return html`<${Status} tone=${tone}>${row.operStatus ?? 'unknown'}<//>`;
}

/** @type {import('../parts/table.js').Column[]} */
const LINK_ROUTE_COLUMNS = [
    { key: 'name', title: 'Link route' },
    { key: 'pattern', title: 'Addresses', width: 190, value: (row) => patternOf(/** @type {any} */ (row)) },
    { key: 'direction', title: 'Dir', width: 58 },
    { key: 'operStatus', title: 'State', width: 110, cell: status },
    { key: 'where', title: 'Container', width: 160, from: 'narrow', value: (row) => row.containerId || row.connection || 'none' },
    { key: 'addExternalPrefix', title: 'Adds', width: 110, from: 'wide' },
    { key: 'delExternalPrefix', title: 'Takes away', width: 110, from: 'wide' },
];

/** @type {import('../parts/table.js').Column[]} */
const AUTO_LINK_COLUMNS = [
    { key: 'name', title: 'Auto-link' },
    { key: 'address', title: 'Address', width: 190, value: (row) => row.address ?? row.addr },
    { key: 'direction', title: 'Dir', width: 58 },
    { key: 'operStatus', title: 'State', width: 110, cell: status },
    { key: 'where', title: 'Container', width: 160, from: 'narrow', value: (row) => row.containerId || row.connection || 'none' },
    { key: 'phase', title: 'Phase', width: 70, isNumber: true, from: 'medium' },
    { key: 'lastError', title: 'Last error', width: 220, from: 'medium' },
];

/** @type {import('../parts/table.js').Column[]} */
const EXCHANGE_COLUMNS = [
    { key: 'name', title: 'Exchange' },
    { key: 'address', title: 'Address', width: 190 },
    { key: 'matchMethod', title: 'Match', width: 90, from: 'narrow' },
    { key: 'bindingCount', title: 'Bindings', width: 84, isNumber: true },
    { key: 'receivedCount', title: 'Received', width: 90, isNumber: true, cell: (row) => short(row.receivedCount) },
    { key: 'forwardedCount', title: 'Sent on', width: 90, isNumber: true, from: 'narrow', cell: (row) => short(row.forwardedCount) },
    { key: 'droppedCount', title: 'Dropped', width: 90, isNumber: true, from: 'medium', cell: (row) => short(row.droppedCount) },
];

/** @param {{app: import('../main.js').App, route: import('../route.js').Route}} props */
export function Routes({ app, route }) {
    const mesh = useMesh(app.mesh);
    const routers = chosenRouters(mesh, route);
    const { data, error } = useLoad(async () => {
        const [linkRoutes, autoLinks, exchanges] = await Promise.all(['linkRoute', 'autoLink', 'exchange'].map((one) => rowsOf(app, routers, one)));
        return { linkRoutes, autoLinks, exchanges };
    }, [routers], { mesh, everyMs: 4000 });
    const isAll = routers.length > 1;
    const list = (/** @type {string} */ label, /** @type {string} */ typeName, /** @type {Row[]} */ rows, /** @type {import('../parts/table.js').Column[]} */ columns) => html`<${Table} label=${label} isTall=${false} rows=${rows}
        columns=${isAll ? [columns[0], { key: 'router', title: 'Router', width: 90 }, ...columns.slice(1)] : columns} rowKey=${(/** @type {Row} */ row) => `${row.router}/${row.identity}`}
        href=${(/** @type {Row} */ row) => link('entities', [typeName, row.identity], { router: row.router })} />`;
    const create = (/** @type {string} */ typeName) => html`<a href=${link('entities', [typeName], { router: route.query.router })}>Create or change</a>`;
    return html`<${Head} title="Link routes and auto-links" about="What goes to brokers and other containers, and how it fares." />
        <${Problem} error=${error} />
        ${!data && !error && html`<${Loading} />`}
        ${data && html`
            <${Panel} title="Link routes" tools=${create('linkRoute')}>${data.linkRoutes.length ? list('Link routes', 'linkRoute', data.linkRoutes, LINK_ROUTE_COLUMNS)
                : html`<${Empty} title="No link routes">A link route has links of some addresses passed on as a whole to a container, which is mostly a broker.<//>`}<//>
            <${Panel} title="Auto-links" tools=${create('autoLink')}>${data.autoLinks.length ? list('Auto-links', 'autoLink', data.autoLinks, AUTO_LINK_COLUMNS)
                : html`<${Empty} title="No auto-links">An auto-link is a link that the router attaches to a container, such as to a queue of a broker.<//>`}<//>
            <${Panel} title="Exchanges" tools=${create('exchange')}>${data.exchanges.length ? list('Exchanges', 'exchange', data.exchanges, EXCHANGE_COLUMNS)
                : html`<${Empty} title="No exchanges">An exchange sends messages on by their subjects.<//>`}<//>`}`;
}
