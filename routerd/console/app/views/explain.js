/** Where a message to an address would go from a router, and why. */

import { html, useEffect, useState } from '../html.js';
import { count, short } from '../format.js';
import { explain, facts } from '../explain.js';
import { patternOf } from '../patterns.js';
import { link, replaceQuery } from '../route.js';
import { Empty, Head, Loading, Panel, Problem, Status } from '../parts/bits.js';
import { Table } from '../parts/table.js';
import { useLoad, useMesh } from '../parts/use.js';

const TONES = /** @type {Record<string, [string, string]>} */ ({
    routed: ['ok', 'routed'], waits: ['warn', 'waits'], link: ['ok', 'link routed'], refused: ['bad', 'refused'], nowhere: ['warn', 'goes nowhere'],
});

/** @param {{app: import('../main.js').App, route: import('../route.js').Route}} props */
export function Explain({ app, route }) {
    useMesh(app.mesh);
    const address = route.query.address ?? '';
    const router = route.query.router && route.query.router !== '*' ? route.query.router : app.mesh.ownId;
    const [entered, setEntered] = useState(address);
    useEffect(() => setEntered(address), [address]);
    const submit = (/** @type {any} */ event) => {
        event.preventDefault();
        replaceQuery(route, { address: entered.trim() });
    };
    return html`<${Head} title="Explain" about=${`Where a message would go from router ${router}, and why.`} />
        <form class="explain-form" onSubmit=${submit}>
            <label for="explain-address">Address</label>
            <input id="explain-address" type="text" class="mono" value=${entered} placeholder="orders/new" spellcheck="false" autocomplete="off" onInput=${(/** @type {any} */ event) => setEntered(event.target.value)} />
            <button type="submit" class="primary">Explain</button></form>
        ${address ? html`<${Answer} key=${`${router} ${address}`} app=${app} router=${router} address=${address} />`
            : html`<${Empty} title="Say an address">The router is chosen above. You can also come here from any address in the list of <a href=${link('addresses', [], { router: route.query.router })}>addresses</a>.<//>`}`;
}

/** @param {{app: import('../main.js').App, router: string, address: string}} props */
function Answer({ app, router, address }) {
    const { data, error } = useLoad(() => facts(app.management, app.mesh.path(router), router), [router, address], { mesh: app.mesh, everyMs: 4000 });
    if (error && !data) return html`<${Problem} error=${error} />`;
    if (!data) return html`<${Loading} what="Asking the router" />`;
    const answer = explain(address, data);
    const [tone, word] = TONES[answer.verdict];
    return html`<${Problem} error=${error} />
        <section class=${`verdict ${tone}`} aria-live="polite"><${Status} tone=${tone}>${word}<//><p>${answer.sentence}</p></section>
        <${Panel} title="Why"><ol class="steps">${answer.steps.map((one, number) => html`<li key=${number}><h3>${one.title}</h3><p>${one.text}</p>
            ${one.rows && one.rows.length > 0 && html`<ul class="matches">${one.rows.map((row, at) => html`<li key=${row.identity}>
                <code>${patternOf(/** @type {any} */ (row))}</code> ${row.name} <span class="muted">${row.distribution ?? 'unavailable'}${at === 0 ? ', counts' : ', less exact'}</span></li>`)}</ul>`}</li>`)}</ol><//>
        <${Candidates} router=${router} answer=${answer} />
        ${answer.rights.length > 0 && html`<${Rights} rights=${answer.rights} />`}`;
}

/** @param {{router: string, answer: import('../explain.js').Explanation}} props */
function Candidates({ router, answer }) {
    const rows = answer.candidates.map((one, at) => ({ ...one, id: String(at) }));
    return html`<${Panel} title=${`Candidates (${count(rows.length)})`}>
            ${rows.length ? html`<${Table} label="Candidates" isTall=${false} rows=${rows} rowKey=${(/** @type {any} */ row) => row.id}
                href=${(/** @type {any} */ row) => (row.href ? link(row.href[0], row.href.slice(1), { router }) : link('link-routes', [], { router }))} columns=${[
                { key: 'name', title: 'Consumer' },
                { key: 'words', title: 'State', width: 190, cell: (/** @type {any} */ row) => html`<${Status} tone=${row.state === 'takes' ? 'ok' : row.state === 'waits' ? 'warn' : 'info'}>${row.words}<//>` },
                { key: 'phase', title: 'Phase', width: 70, from: 'narrow', about: 'F is that of the fallback destination' },
                { key: 'cost', title: 'Cost', width: 70, isNumber: true },
                { key: 'outstanding', title: 'Outstanding', width: 100, isNumber: true, from: 'narrow', cell: (/** @type {any} */ row) => short(row.outstanding), about: 'Deliveries that are not settled yet' },
                { key: 'credit', title: 'Credit', width: 80, isNumber: true, from: 'narrow', cell: (/** @type {any} */ row) => short(row.credit) },
            ]} />` : html`<${Empty} title="Nobody">There is no consumer to choose from.<//>`}<//>`;
}

/** @param {{rights: import('../rights.js').Right[]}} props */
function Rights({ rights }) {
    const word = (/** @type {boolean | null} */ is) => (is === null ? 'depends on the user' : is ? 'yes' : 'no');
    return html`<${Panel} title="What groups may do here"><${Table} label="Rights" isTall=${false}
        rows=${rights.map((one) => ({ ...one, id: `${one.vhost} ${one.group}` }))} rowKey=${(/** @type {any} */ row) => row.id} href=${() => link('policy')} columns=${[
            { key: 'group', title: 'Group', cell: (/** @type {any} */ row) => `${row.group}${row.isAsker ? ' (yours)' : ''}` },
            { key: 'vhost', title: 'Virtual host', width: 190 },
            { key: 'maySend', title: 'May send', width: 150, cell: (/** @type {any} */ row) => word(row.maySend) },
            { key: 'mayReceive', title: 'May receive', width: 150, cell: (/** @type {any} */ row) => word(row.mayReceive) },
        ]} /><//>`;
}
