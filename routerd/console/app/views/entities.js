/** All entities by type, as the schema of the router has them: looked at, created, changed and deleted. */

import { html, useMemo, useState } from '../html.js';
import { count, text, words } from '../format.js';
import { link, replaceQuery } from '../route.js';
import { canCreate, typeGroups } from '../schema.js';
import { Empty, Head, Icon, Loading, Problem, Search } from '../parts/bits.js';
import { Detail } from '../parts/detail.js';
import { EntityForm } from '../parts/form.js';
import { chosenRouters, rowsOf } from '../parts/list.js';
import { Table } from '../parts/table.js';
import { useLoad, useMesh } from '../parts/use.js';

const COLUMNS_MAX = 7;
/** Attributes that say most of an entity, in this order. */
const TELLING = [
    'name', 'id', 'module', 'enable', 'host', 'port', 'role', 'prefix', 'pattern', 'address', 'distribution', 'direction', 'containerId', 'connection', 'operStatus',
    'connectionStatus', 'exchangeAddress', 'bindingKey', 'nextHopAddress', 'hostname', 'level', 'status', 'http', 'sslProfile', 'cost', 'lastError', 'priority',
];

/** @param {{app: import('../main.js').App, route: import('../route.js').Route}} props */
export function Entities({ app, route }) {
    useMesh(app.mesh);
    const { schema } = app;
    const groups = useMemo(() => typeGroups(schema), [schema]);
    const typeName = route.path[0] in schema ? route.path[0] : 'listener';
    return html`<div class="entities">
        <nav class="types" aria-label="Types of entities">
            <select class="types-choice" aria-label="Type of entities" onChange=${(/** @type {any} */ event) => { location.hash = link('entities', [event.target.value], { router: route.query.router }); }}>
                ${groups.map((group) => html`<optgroup label=${group.title}>${group.types.map((one) => html`<option value=${one} selected=${one === typeName}>${one}</option>`)}</optgroup>`)}</select>
            ${groups.map((group) => html`<h2>${group.title}</h2><ul>${group.types.map((one) => html`<li key=${one}>
                <a href=${link('entities', [one], { router: route.query.router })} aria-current=${one === typeName ? 'page' : undefined} title=${schema[one].description}>${one}</a></li>`)}</ul>`)}
        </nav>
        <${EntityList} key=${typeName} app=${app} route=${route} typeName=${typeName} />
    </div>`;
}

/** @param {{app: import('../main.js').App, route: import('../route.js').Route, typeName: string}} props */
function EntityList({ app, route, typeName }) {
    const { mesh, management, schema } = app;
    const type = schema[typeName];
    const router = chosenRouters(mesh, route)[0] === mesh.ownId || route.query.router === '*' ? mesh.ownId : chosenRouters(mesh, route)[0];
    const [isCreating, setCreating] = useState(false);
    const { data, error, refresh } = useLoad(() => rowsOf(app, [router], typeName), [router, typeName], { mesh, everyMs: 5000 });
    const filter = (route.query.filter ?? '').toLowerCase();
    const rows = useMemo(() => (data ?? []).filter((row) => !filter || Object.values(row).some((one) => typeof one === 'string' && one.toLowerCase().includes(filter))), [data, filter]);
    const columns = useMemo(() => columnsOf(data ?? [], type), [data, type]);
    const identity = route.path[1];
    const create = canCreate(type) && html`<button type="button" class="primary" onClick=${() => setCreating(true)}><${Icon} name="plus" />Create</button>`;
    return html`<div class=${`with-detail ${identity ? 'open' : ''}`}>
        <div class="list">
            <${Head} title=${typeName} about=${`${type.description} At router ${router}.`}>
                <${Search} value=${route.query.filter ?? ''} onInput=${(/** @type {string} */ one) => replaceQuery(route, { filter: one })} />${create}<//>
            <${Problem} error=${error} />
            ${!data && !error && html`<${Loading} />`}
            ${data && !rows.length && html`<${Empty} title=${filter ? 'Nothing matches' : `There is no ${typeName} at router ${router}`}>
                ${filter ? `There are ${count(data.length)} in all.` : canCreate(type) ? 'Create one here, or write a section into the configuration file of the router.' : 'It appears as soon as the router has something to report.'}<//>`}
            ${rows.length > 0 && html`<${Table} label=${typeName} columns=${columns} rows=${rows} rowKey=${(/** @type {any} */ row) => row.identity}
                href=${(/** @type {any} */ row) => link('entities', [typeName, row.identity], route.query)} selected=${identity}
                sort=${route.query.sort ?? ''} onSort=${(/** @type {string} */ by) => replaceQuery(route, { sort: by })} />
                <p class="table-foot" role="status">${count(rows.length)}</p>`}
        </div>
        ${identity && html`<${Detail} key=${identity} app=${app} router=${router} typeName=${typeName} identity=${identity} closeHref=${link('entities', [typeName], route.query)} onChanged=${refresh} />`}
        ${isCreating && html`<${EntityForm} name=${typeName} type=${type} onClose=${() => setCreating(false)} save=${async (/** @type {any} */ values) => {
            const { name, ...body } = values;
            const made = await management.ask({ operation: 'CREATE', router: mesh.path(router), type: type.fullyQualifiedType, ...(name ? { name } : {}), body });
            app.say(`${typeName} ${made.name ?? made.identity} is created at router ${router}`);
            await refresh();
        }} />`}
    </div>`;
}

/**
 * The columns that tell the entities of a type apart.
 * @param {import('../management.js').Row[]} rows
 * @param {import('../schema.js').TypeSchema} type
 * @returns {import('../parts/table.js').Column[]}
 */
function columnsOf(rows, type) {
    const filled = (/** @type {string} */ name) => rows.some((row) => row[name] !== null && row[name] !== undefined && row[name] !== '' && typeof row[name] !== 'object');
    const names = Object.keys(type.attributes).filter((one) => !['identity', 'type', 'name'].includes(one) && filled(one));
    const telling = TELLING.filter((one) => names.includes(one));
    const chosen = [...telling, ...names.filter((one) => !telling.includes(one) && (type.attributes[one].graph || telling.length < 3))].slice(0, COLUMNS_MAX);
    const from = /** @type {('narrow' | 'medium' | 'wide' | undefined)[]} */ ([undefined, undefined, 'narrow', 'narrow', 'medium', 'medium', 'wide']);
    return [
        { key: 'name', title: 'Name', value: (row) => row.name ?? row.identity },
        ...chosen.map((one, at) => ({
            key: one, title: words(one), width: rows.some((row) => typeof row[one] === 'number') ? 110 : 138, from: from[at],
            isNumber: rows.some((row) => typeof row[one] === 'number'), cell: (/** @type {any} */ row) => text(row[one]), about: type.attributes[one].description,
        })),
    ];
}
