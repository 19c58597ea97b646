/** How the network is, and what needs attention first. */

import { html } from '../html.js';
import { clock, count, octets, plural, rate, seconds, short } from '../format.js';
import { findings, reports } from '../findings.js';
import { sum } from '../mesh.js';
import { link } from '../route.js';
import { Empty, Head, Panel, RouterStatus, Sparkline, Stat, Status } from '../parts/bits.js';
import { Chart } from '../parts/chart.js';
import { useMesh } from '../parts/use.js';

const FINDINGS_SHOWN = 12;
const ROUTERS_SHOWN = 24;

/** @typedef {import('../mesh.js').Mesh} Mesh */
/** @typedef {import('../mesh.js').RouterView} RouterView */

/** @param {{app: import('../main.js').App}} props */
export function Overview({ app }) {
    const mesh = useMesh(app.mesh);
    const found = findings(mesh);
    const up = mesh.present.filter((one) => one.state === 'up');
    const urgent = found.filter((one) => one.severity === 'bad').length;
    const verdict = urgent ? ['bad', `${plural(urgent, 'thing')} need${urgent === 1 ? 's' : ''} attention`] : found.some((one) => one.severity === 'warn')
        ? ['warn', 'Worth a look'] : ['ok', 'All is well'];
    return html`<${Head} title="Overview" about=${html`<${Status} tone=${verdict[0]}>${verdict[1]}<//>`} />
        <${Totals} mesh=${mesh} up=${up} />
        <div class="columns">
            <${Panel} title="What needs attention" class="attention"><${Findings} found=${found} /><//>
            <${Panel} title="Deliveries" class="rates"><${Rates} up=${up} />
                <p class="muted small">Requests of management count as deliveries, those of this page too: ${rate(app.requestRate())} of them come from here.</p>
                ${reports(up).map((url) => html`<p key=${url} class="small"><a href=${url} target="_blank" rel="noopener noreferrer">Report of recorded decisions</a></p>`)}<//>
        </div>
        <${Panel} title="Routers" tools=${html`<a href=${link('routers')}>All ${mesh.routers.size}</a>`}><${RouterCards} mesh=${mesh} found=${found} /><//>`;
}

/** @param {{mesh: Mesh, up: RouterView[]}} props */
function Totals({ mesh, up }) {
    const total = (/** @type {string} */ name) => sum(up.map((one) => one.now ?? {}), name);
    const totalRate = (/** @type {string} */ name) => up.reduce((all, one) => all + (one.rate(name) ?? 0), 0);
    const trunks = mesh.trunks();
    const down = trunks.filter((one) => !one.isUp).length;
    const lost = mesh.routers.size - up.length;
    const unwell = totalRate('rejectedDeliveries') + totalRate('modifiedDeliveries') + totalRate('droppedPresettledDeliveries');
    return html`<div class="stats">
        <${Stat} label="Routers up" value=${`${up.length} of ${mesh.routers.size}`} tone=${lost ? 'bad' : undefined} href=${link('routers')}
            note=${lost ? `${lost} lost or silent` : plural(up.filter((one) => one.kind === 'edge').length, 'edge router')} />
        <${Stat} label="Trunks up" value=${`${trunks.length - down} of ${trunks.length}`} tone=${down ? 'bad' : undefined} href=${link('topology')} note=${down ? `${down} down` : 'between interior routers'} />
        <${Stat} label="Connections" value=${short(total('connectionCount'))} href=${link('connections', [], { router: '*' })} note="clients, containers, routers" />
        <${Stat} label="Links" value=${short(total('linkCount'))} href=${link('links', [], { router: '*' })}
            tone=${total('linksBlocked') ? 'warn' : undefined} note=${total('linksBlocked') ? `${count(total('linksBlocked'))} blocked` : 'none is blocked'} />
        <${Stat} label="From clients" value=${rate(totalRate('deliveriesIngress'))} note="deliveries received" />
        <${Stat} label="To clients" value=${rate(totalRate('deliveriesEgress'))} note="deliveries sent" />
        <${Stat} label="Stuck" value=${short(total('deliveriesStuck'))} tone=${total('deliveriesStuck') ? 'warn' : undefined} note="under way for more than 10 s" href=${link('links', [], { router: '*', sort: '-deliveriesStuck' })} />
        <${Stat} label="Not accepted" value=${rate(unwell)} tone=${unwell >= 0.05 ? 'warn' : undefined} note="rejected, modified, dropped" />
    </div>`;
}

/** @param {{found: import('../findings.js').Finding[]}} props */
export function Findings({ found }) {
    if (!found.length) return html`<${Empty} title="Nothing needs attention">Routers answer, trunks are up, nothing is stuck, and nobody was refused lately.<//>`;
    const words = { bad: 'urgent', warn: 'warning', info: 'note' };
    return html`<ul class="findings">
        ${found.slice(0, FINDINGS_SHOWN).map((one) => html`<li key=${one.router + one.title}><a href=${one.href}>
            <${Status} tone=${one.severity}>${words[one.severity]}<//>
            <span class="finding"><b>${one.title}</b><span>${one.advice}</span></span><span class="tag">${one.others ? `${one.router} and ${one.others.length} more` : one.router}</span></a></li>`)}
        ${found.length > FINDINGS_SHOWN && html`<li class="muted">and ${count(found.length - FINDINGS_SHOWN)} more</li>`}
    </ul>`;
}

/** @param {{up: RouterView[]}} props */
function Rates({ up }) {
    const figures = /** @type {[string, string][]} */ ([['deliveriesIngress', 'from clients'], ['deliveriesEgress', 'to clients'], ['deliveriesTransit', 'in transit']]);
    const series = figures.map(([name, label]) => ({ label, ...summed(up, name) }));
    if (series[0].times.length < 2) return html`<${Empty} title="The first rates come in a few seconds" />`;
    return html`<${Chart} series=${series} label="Deliveries a second" format=${rate} height=${230} />`;
}

/**
 * A rate of all routers together. Routers are asked at slightly different times, so that times are rounded.
 * @param {RouterView[]} routers
 * @param {string} name
 */
function summed(routers, name) {
    /** @type {Map<number, number>} */
    const slots = new Map();
    for (const router of routers) {
        const [times, values] = router.history.series(name, true);
        times.forEach((time, at) => {
            const slot = 2 * Math.round(time / 2);
            slots.set(slot, (slots.get(slot) ?? 0) + (values[at] ?? 0));
        });
    }
    const times = [...slots.keys()].sort((a, b) => a - b);
    // The last slot may lack some routers yet.
    const whole = times.length > 2 ? times.slice(0, -1) : times;
    return { times: whole, values: whole.map((time) => slots.get(time) ?? null) };
}

/** @param {{mesh: Mesh, found: import('../findings.js').Finding[]}} props */
function RouterCards({ mesh, found }) {
    const worst = (/** @type {string} */ id) => {
        const own = found.filter((one) => one.router === id || one.others?.includes(id));
        return own.some((one) => one.severity === 'bad') ? 0 : own.some((one) => one.severity === 'warn') ? 1 : 2;
    };
    const routers = mesh.list.sort((a, b) => worst(a.id) - worst(b.id)).slice(0, ROUTERS_SHOWN);
    return html`<ul class="cards">${routers.map((router) => html`<li key=${router.id}><a class=${`card ${router.state}`} href=${link('routers', [router.id])}>
        <span class="card-head"><b>${router.id}</b><${RouterStatus} router=${router} /></span>
        <span class="muted small">${router.kind}${router.uplink ? ` at ${router.uplink}` : ''}${router.state === 'lost' ? `, since ${clock(router.lostAt)}` : router.now ? `, up ${seconds(router.now.uptimeSeconds)}` : ''}</span>
        <${Sparkline} values=${router.history.series('deliveriesIngress', true)[1].slice(-60)} />
        <span class="card-figures"><span><b>${rate(router.rate('deliveriesIngress'))}</b> in</span><span><b>${rate(router.rate('deliveriesEgress'))}</b> out</span>
            <span><b>${short(router.now?.connectionCount)}</b> conns</span><span><b>${octets(router.now?.memoryUsage)}</b></span></span></a></li>`)}</ul>`;
}
