/** Any figures over time: which ones is part of the address, so that a set of charts can be kept and sent to others. */

import { html, useEffect, useMemo, useReducer, useRef, useState } from '../html.js';
import { formatOf, rate, words } from '../format.js';
import { History } from '../history.js';
import { link, replaceQuery } from '../route.js';
import { listing, typeGroups } from '../schema.js';
import { Choice, Empty, Head, Icon, Panel, Problem, Prose } from '../parts/bits.js';
import { Chart } from '../parts/chart.js';
import { useLoad } from '../parts/use.js';

const EVERY_MS = 2000;
const ENTITIES_MAX = 500;
/** Between the parts of what names a figure. */
const SEPARATOR = '|';
/** Figures that are not counted up, so that their values are drawn and not their growth. */
const GAUGE = /(Count|Seconds|Rate|Available|Stuck|Blocked|Octets|Usage|Microseconds|Pending|Current|memory)$/i;
const COUNTER = /(deliveryCount|presettledCount|acceptedCount|rejectedCount|releasedCount|modifiedCount|abortedCount|receivedCount|droppedCount|droppedPresettledCount|forwardedCount|divertedCount|matchedCount|stallCount|errorCount|traceCount|debugCount|infoCount|noticeCount|warningCount|criticalCount)$/;

/** @typedef {{router: string, typeName: string, identity: string, name: string, key: string}} Figure */

/**
 * @param {string} key
 * @returns {Figure | null}
 */
function figureOf(key) {
    const parts = key.split(SEPARATOR);
    if (parts.length < 4) return null;
    return { router: parts[0], typeName: parts[1], identity: parts.slice(2, -1).join(SEPARATOR), name: /** @type {string} */ (parts.at(-1)), key };
}

/** @param {string} name */
export function isCounter(name) {
    return COUNTER.test(name) || !GAUGE.test(name);
}

/** @param {{app: import('../main.js').App, route: import('../route.js').Route}} props */
export function Charts({ app, route }) {
    const { mesh } = app;
    const keys = useMemo(() => (route.query.figures ?? '').split(',').filter(Boolean).map(decodeURIComponent), [route.query.figures]);
    const set = (/** @type {string[]} */ chosen) => replaceQuery(route, { figures: chosen.map(encodeURIComponent).join(','), add: null });
    useEffect(() => {
        if (route.query.add) set([...new Set([...keys, route.query.add])]);
    }, [route.query.add]);
    const router = route.query.router && route.query.router !== '*' ? route.query.router : mesh.ownId;
    const figures = keys.map(figureOf).filter((one) => one !== null);
    const error = useSamples(app, figures);
    return html`<${Head} title="Charts" about="Any figure of any entity over time, from when it is added; figures of routers from when you signed in." />
        <${Panel} title="Add a figure"><${Picker} app=${app} router=${router} onAdd=${(/** @type {string} */ key) => set([...new Set([...keys, key])])} /><//>
        <${Problem} error=${error} />
        ${figures.length === 0 && html`<${Empty} title="No figures yet">Choose one above, or look at an entity and choose one of its figures there. For a start:
            <a href=${link('charts', [], { router: route.query.router, figures: ['deliveriesIngress', 'deliveriesEgress', 'connectionCount', 'memoryUsage'].map((one) => encodeURIComponent([router, 'router', '1', one].join(SEPARATOR))).join(',') })}>deliveries, connections and memory of router ${router}</a>.<//>`}
        <div class="charts">${figures.map((one) => html`<${FigureChart} key=${one.key} app=${app} figure=${one} onRemove=${() => set(keys.filter((key) => key !== one.key))} />`)}</div>`;
}

/**
 * Sample the figures while they are shown; the histories stay for as long as the page.
 * @param {import('../main.js').App} app
 * @param {Figure[]} figures
 */
function useSamples(app, figures) {
    const [, redraw] = useReducer((/** @type {number} */ one) => one + 1, 0);
    const [error, setError] = useState(/** @type {any} */ (null));
    const latest = useRef(figures);
    latest.current = figures;
    useEffect(() => {
        let isOver = false;
        /** @type {any} */
        let timer;
        const loop = async () => {
            if (!app.mesh.isPaused) {
                try {
                    await Promise.all(entitiesOf(latest.current).map((one) => sample(app, one)));
                    setError(null);
                } catch (problem) {
                    setError(problem);
                }
                redraw(undefined);
            }
            if (!isOver) timer = setTimeout(loop, EVERY_MS);
        };
        loop();
        return () => {
            isOver = true;
            clearTimeout(timer);
        };
    }, [app, figures.length]);
    return error;
}

/** @param {Figure[]} figures */
function entitiesOf(figures) {
    return [...new Map(figures.filter((one) => one.typeName !== 'router').map((one) => [entityKey(one), one])).values()];
}

/** @param {Figure} figure */
function entityKey({ router, typeName, identity }) {
    return [router, typeName, identity].join(SEPARATOR);
}

/**
 * @param {import('../main.js').App} app
 * @param {Figure} figure
 */
async function sample(app, figure) {
    const type = app.schema[figure.typeName];
    const row = await app.management.ask({
        operation: listing(type) === 'QUERY' ? 'READ' : 'read', router: app.mesh.path(figure.router), type: type.fullyQualifiedType, identity: figure.identity,
    });
    historyOf(app, figure).add(Date.now(), row);
}

/**
 * @param {import('../main.js').App} app
 * @param {Figure} figure
 */
function historyOf(app, figure) {
    if (figure.typeName === 'router') return app.mesh.routers.get(figure.router)?.history ?? new History();
    const key = entityKey(figure);
    let history = app.histories.get(key);
    if (!history) app.histories.set(key, (history = new History()));
    return history;
}

/** @param {{app: import('../main.js').App, figure: Figure, onRemove: () => void}} props */
function FigureChart({ app, figure, onRemove }) {
    const [asRate, setRate] = useState(isCounter(figure.name));
    const [times, values] = historyOf(app, figure).series(figure.name, asRate);
    const about = app.schema[figure.typeName]?.attributes[figure.name]?.description;
    const title = `${words(figure.name)}${asRate ? ' a second' : ''}`;
    return html`<${Panel} title=${title} tools=${html`<${Choice} label="Draw" value=${asRate ? 'rate' : 'value'} onChange=${(/** @type {string} */ one) => setRate(one === 'rate')} options=${[['rate', 'Rate'], ['value', 'Value']]} />
            <button type="button" class="quiet" aria-label=${`Remove ${title}`} onClick=${onRemove}><${Icon} name="close" /></button>`}>
        <p class="muted small">${figure.typeName === 'router' ? `Router ${figure.router}` : `${figure.typeName} ${figure.identity} at ${figure.router}`}. <${Prose} text=${about} /></p>
        ${times.length < 2 ? html`<${Empty} title="The first values come in a few seconds" />`
            : html`<${Chart} label=${title} series=${[{ label: words(figure.name), times, values }]} format=${asRate ? rate : formatOf(figure.name)} height=${190} />`}<//>`;
}

/** @param {{app: import('../main.js').App, router: string, onAdd: (key: string) => void}} props */
function Picker({ app, router, onAdd }) {
    const { mesh, schema, management } = app;
    const types = typeGroups(schema).flatMap((group) => group.types).filter((one) => numbersOf(schema[one]).length).sort();
    const [typeName, setType] = useState('router');
    const [chosen, setIdentity] = useState('');
    const [name, setName] = useState('deliveriesIngress');
    const type = schema[typeName];
    const { data } = useLoad(() => management.query(mesh.path(router), type.fullyQualifiedType, ['identity', 'name'], { most: ENTITIES_MAX, operation: listing(type) }), [router, typeName], { mesh, everyMs: 10_000 });
    const entities = data ?? [];
    const identity = entities.some((one) => one.identity === chosen) ? chosen : entities[0]?.identity ?? '';
    const numbers = numbersOf(type);
    const figure = numbers.includes(name) ? name : numbers[0];
    const add = (/** @type {any} */ event) => {
        event.preventDefault();
        if (identity) onAdd([router, typeName, identity, figure].join(SEPARATOR));
    };
    return html`<form class="picker" onSubmit=${add}>
        <label>Of router <b>${router}</b></label>
        <${Choice} label="Type" value=${typeName} onChange=${setType} options=${types.map((one) => [one, one])} />
        <${Choice} label="Entity" value=${identity} onChange=${setIdentity} options=${entities.length ? entities.map((one) => [one.identity, one.name && one.name !== one.identity ? `${one.name} (${one.identity})` : one.identity]) : [['', 'there is none']]} />
        <${Choice} label="Figure" value=${figure} onChange=${setName} options=${numbers.map((one) => [one, words(one)])} />
        <button type="submit" class="primary" disabled=${!identity}>Add</button></form>`;
}

/** @param {import('../schema.js').TypeSchema} type */
function numbersOf(type) {
    return Object.entries(type.attributes).filter(([, one]) => one.graph).map(([name]) => name);
}
