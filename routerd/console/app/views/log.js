/** The log of a router: its latest lines, filtered, and the levels that it writes. */

import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { clock, plural } from '../format.js';
import { PREFIX } from '../management.js';
import { replaceQuery } from '../route.js';
import { Choice, Empty, Head, Loading, Problem, Search } from '../parts/bits.js';
import { Dialog } from '../parts/dialog.js';
import { useLoad } from '../parts/use.js';

const LEVELS = ['trace', 'debug', 'info', 'notice', 'warning', 'error', 'critical'];
/** What DEFAULT writes where nothing is configured. */
const BUILT_IN = 'info+';
const LIMIT = 1000;
const SHOWN = 600;

/** @typedef {{module: string, level: string, text: string, at: number, file: string}} Line */

/** @param {{app: import('../main.js').App, route: import('../route.js').Route}} props */
export function Log({ app, route }) {
    const { mesh, management } = app;
    const router = route.query.router && route.query.router !== '*' ? route.query.router : mesh.ownId;
    const { level = 'trace', module = '', filter = '' } = route.query;
    const [isSetting, setSetting] = useState(false);
    const [isFollowing, setFollowing] = useState(true);
    const { data, error } = useLoad(async () => (await management.node(mesh.path(router), 'GET-LOG', { limit: LIMIT })).map(asLine), [router], { mesh, everyMs: 2000 });
    const least = LEVELS.indexOf(level);
    const lines = useMemo(() => /** @type {Line[]} */ (data ?? []).filter((one) => LEVELS.indexOf(one.level) >= least && (!module || one.module === module)
        && (!filter || one.text.toLowerCase().includes(filter.toLowerCase()))).slice(-SHOWN), [data, least, module, filter]);
    const modules = useMemo(() => [...new Set(/** @type {Line[]} */ (data ?? []).map((one) => one.module))].sort(), [data]);
    return html`<${Head} title="Log" about=${`The last ${LIMIT} lines of all processes of router ${router}.`}>
            <${Search} value=${filter} label="Filter, such as [C7]" onInput=${(/** @type {string} */ text) => replaceQuery(route, { filter: text })} />
            <${Choice} label="Least level" value=${level} onChange=${(/** @type {string} */ one) => replaceQuery(route, { level: one })} options=${LEVELS.map((one) => [one, one === 'trace' ? 'All levels' : `${one}+`])} />
            <${Choice} label="Module" value=${module} onChange=${(/** @type {string} */ one) => replaceQuery(route, { module: one })} options=${[['', 'All modules'], ...modules.map((one) => [one, one])]} />
            <label class="check"><input type="checkbox" checked=${isFollowing} onChange=${(/** @type {any} */ event) => setFollowing(event.target.checked)} /> Follow</label>
            <button type="button" onClick=${() => setSetting(true)}>Levels</button><//>
        <${Problem} error=${error} />
        ${!data && !error && html`<${Loading} />`}
        ${data && (lines.length
            ? html`<${Lines} lines=${lines} isFollowing=${isFollowing} /><p class="table-foot" role="status">${plural(lines.length, 'line')} of ${data.length}</p>`
            : html`<${Empty} title="No such lines">${data.length ? 'Change the filter, or the levels that the router writes.' : 'The router has written nothing yet.'}<//>`)}
        ${isSetting && html`<${Levels} app=${app} router=${router} onClose=${() => setSetting(false)} />`}`;
}

/**
 * @param {any[]} line
 * @returns {Line}
 */
function asLine([module, level, text, file, , at]) {
    return { module, level, text, file, at: at instanceof Date ? at.getTime() : 1000 * at };
}

/** @param {{lines: Line[], isFollowing: boolean}} props */
function Lines({ lines, isFollowing }) {
    const box = useRef(/** @type {any} */ (null));
    useEffect(() => {
        if (isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight;
    }, [lines, isFollowing]);
    return html`<div class="log table-box tall" ref=${box} tabindex="0" role="log" aria-label="Lines of the log" aria-live="off">
        <table><thead><tr><th scope="col">Time</th><th scope="col">Module</th><th scope="col">Level</th><th scope="col">Text</th></tr></thead>
        <tbody>${lines.map((one, at) => html`<tr key=${`${one.at} ${one.text} ${at}`} class=${one.level}><td>${clock(one.at)}</td><td class="module">${one.module}</td>
            <td class="level">${one.level}</td><td class="text">${one.text}</td></tr>`)}</tbody></table></div>`;
}

/**
 * @param {import('../management.js').Row} row
 * @returns {string | null}
 */
function levelOf(row) {
    return row.enable ?? (row.module === 'DEFAULT' ? BUILT_IN : null);
}

/** @param {{app: import('../main.js').App, router: string, onClose: () => void}} props */
function Levels({ app, router, onClose }) {
    const { mesh, management } = app;
    const [error, setError] = useState(/** @type {any} */ (null));
    const { data, error: loading, refresh } = useLoad(() => management.query(mesh.path(router), `${PREFIX}log`, [], { operation: 'query' }), [router], { mesh, everyMs: 60_000 });
    const change = async (/** @type {any} */ row, /** @type {string} */ level) => {
        try {
            setError(null);
            await management.ask({ operation: 'UPDATE', router: mesh.path(router), type: `${PREFIX}log`, identity: row.identity, body: { enable: level || null } });
            app.say(`${row.module} of ${router} writes ${level || 'as DEFAULT'} from now on`);
            await refresh();
        } catch (problem) {
            setError(problem);
        }
    };
    return html`<${Dialog} title=${`Levels of router ${router}`} onClose=${onClose}>
        <div class="dialog-body"><p class="muted">They hold from now on until the router ends. Modules without a level have that of DEFAULT.</p>
            <${Problem} error=${error ?? loading} />
            <table class="levels"><thead><tr><th scope="col">Module</th><th scope="col">Writes</th></tr></thead><tbody>
                ${(data ?? []).map((row) => html`<tr key=${row.module}><th scope="row">${row.module}</th><td><select aria-label=${`Level of ${row.module}`} onChange=${(/** @type {any} */ event) => change(row, event.target.value)}>
                    ${row.module !== 'DEFAULT' && html`<option value="" selected=${!row.enable}>as DEFAULT</option>`}
                    ${levelOf(row) && levelOf(row) !== 'none' && !LEVELS.some((one) => `${one}+` === levelOf(row)) && html`<option value=${levelOf(row)} selected>${levelOf(row)}</option>`}
                    ${LEVELS.map((one) => html`<option value=${`${one}+`} selected=${levelOf(row) === `${one}+`}>${one} and above</option>`)}
                    <option value="none" selected=${levelOf(row) === 'none'}>nothing</option></select></td></tr>`)}</tbody></table></div>
        <footer><button type="button" class="primary" onClick=${onClose}>Done</button></footer><//>`;
}
