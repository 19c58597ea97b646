/** A view that is a list of entities of one router, or of all, with one of them beside it. */

import { html, useMemo } from '../html.js';
import { clock, count } from '../format.js';
import { link, replaceQuery } from '../route.js';
import { listing } from '../schema.js';
import { Detail } from './detail.js';
import { Empty, Head, Loading, Problem, Search } from './bits.js';
import { Table } from './table.js';
import { useLoad, useMesh } from './use.js';

export const ALL = '*';

/** @typedef {import('../management.js').Row} Row */

/**
 * The routers that a view is about.
 * @param {import('../mesh.js').Mesh} mesh
 * @param {import('../route.js').Route} route
 * @returns {string[]}
 */
export function chosenRouters(mesh, route) {
    if (route.query.router === ALL) return mesh.present.filter((one) => one.state === 'up').map((one) => one.id);
    return [route.query.router || mesh.ownId];
}

/**
 * Rows of a type of several routers, each with the id of its router.
 * @param {import('../main.js').App} app
 * @param {string[]} routers
 * @param {string} typeName
 * @param {string[]} [attributes]
 */
export async function rowsOf(app, routers, typeName, attributes = []) {
    const type = app.schema[typeName];
    const found = await Promise.all(routers.map(async (router) => {
        const rows = await app.management.query(app.mesh.path(router), type.fullyQualifiedType, attributes, { operation: listing(type) });
        for (const row of rows) row.router = router;
        return rows;
    }));
    return found.flat();
}

/**
 * @param {object} props
 * @param {import('../main.js').App} props.app
 * @param {import('../route.js').Route} props.route
 * @param {string} props.title
 * @param {any} props.about
 * @param {string} props.typeName
 * @param {string[]} [props.attributes]
 * @param {import('./table.js').Column[]} props.columns
 * @param {(row: Row) => string} props.words what the filter looks in
 * @param {any} props.empty
 * @param {string} [props.sort]
 * @param {(row: Row) => boolean} [props.keep]
 * @param {any} [props.tools]
 * @param {(row: Row) => any} [props.detail]
 * @param {(row: Row) => any} [props.detailTitle]
 */
export function List({ app, route, title, about, typeName, attributes, columns, words, empty, sort = '', keep, tools, detail, detailTitle }) {
    useMesh(app.mesh);
    const routers = chosenRouters(app.mesh, route);
    const { data, error, at, refresh } = useLoad(() => rowsOf(app, routers, typeName, attributes), [routers, typeName], { mesh: app.mesh });
    const filter = (route.query.filter ?? '').toLowerCase();
    const rows = useMemo(() => (data ?? []).filter((row) => (!keep || keep(row)) && (!filter || words(row).toLowerCase().includes(filter))), [data, filter, keep]);
    const isAll = routers.length > 1 || route.query.router === ALL;
    const shown = useMemo(() => (isAll ? [columns[0], { key: 'router', title: 'Router', width: 90 }, ...columns.slice(1)] : columns), [columns, isAll]);
    const [atRouter, identity] = route.path;
    const href = (/** @type {Row} */ row) => link(route.view, [row.router, row.identity], route.query);
    return html`<div class=${`with-detail ${identity ? 'open' : ''}`}>
        <div class="list">
            <${Head} title=${title} about=${about}>
                <${Search} value=${route.query.filter ?? ''} label="Filter" onInput=${(/** @type {string} */ text) => replaceQuery(route, { filter: text })} />
                ${tools}
            <//>
            <${Problem} error=${error} what=${data ? 'The list is not up to date' : undefined} />
            ${!data && !error && html`<${Loading} what=${`Asking ${isAll ? `${routers.length} routers` : routers[0]}`} />`}
            ${data && rows.length === 0 && (data.length && (filter || keep)
                ? html`<${Empty} title="Nothing matches">There are ${count(data.length)} in all. Change the filter to see some of them.<//>`
                : empty)}
            ${rows.length > 0 && html`
                <${Table} label=${title} columns=${shown} rows=${rows} rowKey=${(/** @type {Row} */ row) => `${row.router}/${row.identity}`}
                    href=${href} sort=${route.query.sort ?? sort} onSort=${(/** @type {string} */ by) => replaceQuery(route, { sort: by })}
                    selected=${identity ? `${atRouter}/${identity}` : undefined} />
                <p class="table-foot" role="status">${filter || keep ? `${count(rows.length)} of ${count(data?.length)}` : count(rows.length)}${at ? `, as of ${clock(at)}` : ''}</p>`}
        </div>
        ${identity && html`<${Detail} key=${`${atRouter}/${identity}`} app=${app} router=${atRouter} typeName=${typeName} identity=${identity}
            closeHref=${link(route.view, [], route.query)} title=${detailTitle} onChanged=${refresh}>${detail}<//>`}
    </div>`;
}
