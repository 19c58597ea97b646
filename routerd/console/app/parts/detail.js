/** One entity beside a list: all that it says of itself, what it counts as it goes, and what can be done with it. */

import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { formatOf, rate, text, words } from '../format.js';
import { History } from '../history.js';
import { link } from '../route.js';
import { canDelete, canUpdate, listing } from '../schema.js';
import { Icon, Loading, Problem, Sparkline } from './bits.js';
import { Confirm } from './dialog.js';
import { EntityForm } from './form.js';
import { useLoad } from './use.js';

/** Numbers that say what an entity is, and that no chart is drawn of. */
const NO_FIGURE = /^(cost|port|worker|pid|capacity|priority|index|instance|protocolVersion|sslSsf|version|lastTopoChange)$/;
const HIDDEN = new Set(['type', 'ingressHistogram']);

/**
 * @param {object} props
 * @param {import('../main.js').App} props.app
 * @param {string} props.router its id
 * @param {string} props.typeName short
 * @param {string} props.identity
 * @param {string} props.closeHref
 * @param {any} [props.title]
 * @param {any} [props.children] what a view adds to it
 * @param {() => void} [props.onChanged]
 */
export function Detail({ app, router, typeName, identity, closeHref, title, children, onChanged }) {
    const { management, mesh, schema } = app;
    const type = schema[typeName];
    const [dialog, setDialog] = useState('');
    const history = useMemo(() => new History(120), [router, typeName, identity]);
    const { data, error, refresh } = useLoad(async () => {
        const operation = listing(type) === 'QUERY' ? 'READ' : 'read';
        const row = await management.ask({ operation, router: mesh.path(router), type: type.fullyQualifiedType, identity });
        history.add(Date.now(), row);
        return row;
    }, [router, typeName, identity], { mesh, everyMs: 2000 });
    const aside = useRef(/** @type {any} */ (null));
    useEffect(() => aside.current?.focus({ preventScroll: true }), [router, identity]);
    const changed = () => {
        refresh();
        onChanged?.();
    };
    const deleting = data && canDelete(type);
    return html`<aside class="detail" ref=${aside} tabindex="-1" aria-label=${`${typeName} ${identity}`}
        onKeyDown=${(/** @type {any} */ event) => { if (event.key === 'Escape' && !dialog) location.hash = closeHref; }}>
        <header><div><p class="kind">${typeName} at ${router}</p><h2>${(data && title?.(data)) ?? data?.name ?? identity}</h2></div>
            <a class="button quiet" href=${closeHref} aria-label="Close"><${Icon} name="close" /></a></header>
        ${error && html`<${Problem} error=${error} />`}
        ${!data && !error && html`<${Loading} />`}
        ${data && html`
            <div class="actions">
                ${canUpdate(type, typeName) && html`<button type="button" onClick=${() => setDialog('change')}>Change</button>`}
                ${typeName === 'connection' && data.adminStatus !== 'deleted' && html`<button type="button" class="danger" onClick=${() => setDialog('close')}>Close connection</button>`}
                ${deleting && html`<button type="button" class="danger" onClick=${() => setDialog('delete')}>Delete</button>`}
            </div>
            ${children?.(data)}
            <${Attributes} row=${data} type=${type} history=${history} router=${router} typeName=${typeName} identity=${identity} />`}
        ${dialog === 'change' && html`<${EntityForm} name=${typeName} type=${type} entity=${data} onClose=${() => setDialog('')}
            save=${async (/** @type {any} */ values) => {
                await management.ask({ operation: 'UPDATE', router: mesh.path(router), type: type.fullyQualifiedType, identity, body: values });
                app.say(`${typeName} ${data.name ?? identity} is changed`);
                changed();
            }} />`}
        ${dialog === 'close' && html`<${Confirm} title="Close this connection?" action="Close connection"
            run=${() => management.ask({ operation: 'UPDATE', router: mesh.path(router), type: type.fullyQualifiedType, identity, body: { adminStatus: 'deleted' } })}
            onClose=${(/** @type {boolean} */ isDone) => { setDialog(''); if (isDone) { app.say('The connection is closed'); changed(); location.hash = closeHref; } }}>
            <p>The peer <b>${data.container}</b> at ${data.host} loses its links. Most clients connect again by themselves.</p><//>`}
        ${dialog === 'delete' && html`<${Confirm} title=${`Delete ${data.name ?? identity}?`} action="Delete"
            run=${() => management.ask({ operation: 'DELETE', router: mesh.path(router), type: type.fullyQualifiedType, identity })}
            onClose=${(/** @type {boolean} */ isDone) => { setDialog(''); if (isDone) { app.say(`${typeName} ${data.name ?? identity} is deleted`); onChanged?.(); location.hash = closeHref; } }}>
            <p>It goes from router ${router} at once. If the configuration file has it, it is back when the router starts again.</p><//>`}
    </aside>`;
}

/**
 * @param {{row: import('../management.js').Row, type: import('../schema.js').TypeSchema, history: History, router: string, typeName: string, identity: string}} props
 */
function Attributes({ row, type, history, router, typeName, identity }) {
    const entries = Object.entries(row).filter(([name]) => !HIDDEN.has(name));
    const figures = entries.filter(([name, value]) => typeof value === 'number' && !NO_FIGURE.test(name) && (type.attributes[name]?.graph || /Count$|Seconds$|Rate$|^deliveries/.test(name)));
    const rest = entries.filter((one) => !figures.includes(one) && one[1] !== null && one[1] !== '');
    const unset = entries.length - figures.length - rest.length;
    return html`
        ${figures.length > 0 && html`<h3>Figures</h3><table class="figures"><tbody>${figures.map(([name, value]) => {
            const growth = history.rate(name);
            const isCounter = growth !== undefined && !/Seconds$|Rate$|Available$|memory|lag/i.test(name);
            return html`<tr key=${name}><th scope="row" title=${type.attributes[name]?.description}>
                <a href=${link('charts', [], { add: `${router}|${typeName}|${identity}|${name}` })} title=${`Chart ${name}`}>${words(name)}</a></th>
                <td class="number">${formatOf(name)(value)}</td><td class="number muted">${isCounter && growth ? rate(growth) : ''}</td>
                <td class="spark-cell"><${Sparkline} values=${history.series(name, isCounter)[1]} /></td></tr>`;
        })}</tbody></table>`}
        <h3>Attributes</h3>
        <dl class="facts">${rest.map(([name, value]) => html`<div key=${name} title=${type.attributes[name]?.description}><dt>${words(name)}</dt><dd>${text(value)}</dd></div>`)}</dl>
        ${unset > 0 && html`<p class="muted small">${unset} more are not set.</p>`}`;
}
