/** The console: signs in, keeps the connection, and shows the view that the address says. */

import { html, render, useCallback, useEffect, useRef, useState } from './html.js';
import { clock } from './format.js';
import { Management, ManagementError } from './management.js';
import { Mesh } from './mesh.js';
import { link, useRoute } from './route.js';
import { Empty, Head, Icon } from './parts/bits.js';
import { useMesh } from './parts/use.js';
import { Charts } from './views/charts.js';
import { Entities } from './views/entities.js';
import { Explain } from './views/explain.js';
import { Addresses, Connections, Links } from './views/lists.js';
import { Log } from './views/log.js';
import { Overview } from './views/overview.js';
import { Policy } from './views/policy.js';
import { Routers } from './views/routers.js';
import { Routes } from './views/routes.js';
import { SignIn } from './views/signin.js';
import { Topology } from './views/topology.js';

const AGAIN_MS = [500, 1000, 2000, 5000];
const TOAST_MS = 5000;
/** That somebody got in without a name is kept until the tab is closed, so that a reload does not ask again. */
const ANONYMOUS_KEY = 'mobula.anonymous';

/** @typedef {{user: string, password: string} | null} Credentials */
/**
 * @typedef {object} App what views have
 * @property {Management} management
 * @property {Mesh} mesh
 * @property {import('./schema.js').Schema} schema
 * @property {Map<string, import('./history.js').History>} histories of figures that were drawn
 * @property {(text: string) => void} say
 * @property {() => number} requestRate requests a second of this page
 */

/** @type {{title: string, views: [string, string, any, 'router' | 'all' | ''][]}[]} */
const NAVIGATION = [
    { title: 'Network', views: [['overview', 'Overview', Overview, ''], ['topology', 'Topology', Topology, ''], ['routers', 'Routers', Routers, '']] },
    { title: 'Traffic', views: [
        ['connections', 'Connections', Connections, 'all'], ['links', 'Links', Links, 'all'], ['addresses', 'Addresses', Addresses, 'all'],
        ['link-routes', 'Link routes', Routes, 'all'], ['explain', 'Explain', Explain, 'router']] },
    { title: 'Router', views: [['charts', 'Charts', Charts, 'router'], ['log', 'Log', Log, 'router'], ['policy', 'Policy', Policy, 'router'], ['entities', 'Entities', Entities, 'router']] },
];
const VIEWS = new Map(NAVIGATION.flatMap((group) => group.views).map((one) => [one[0], one]));

/** A socket that takes nothing more once it is about to close; rhea hears of that a little later. */
class Socket extends WebSocket {
    /** @param {any} octets */
    send(octets) {
        if (this.readyState === WebSocket.OPEN) super.send(octets);
    }
}

/** @returns {string} */
function socketUrl() {
    return `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/`;
}

/**
 * Connect, and learn what there is.
 * @param {Credentials} credentials
 * @param {(text: string) => void} say
 * @param {App | null} before an app whose connection was lost
 * @returns {Promise<App>}
 */
async function open(credentials, say, before) {
    const rhea = /** @type {any} */ (globalThis).require('rhea');
    const where = socketUrl();
    const dial = rhea.websocket_connect(Socket);
    const management = await Management.open(rhea, { options: { connection_details: dial(where, ['amqp'], {}) }, where, credentials });
    try {
        const mesh = new Mesh(management);
        const { entityTypes: schema } = await management.node(null, 'GET-SCHEMA');
        await mesh.start();
        return { management, mesh, schema, histories: before?.histories ?? new Map(), say, requestRate: meter(management) };
    } catch (error) {
        management.close();
        throw error;
    }
}

/**
 * How many requests a second are made, over some seconds.
 * @param {Management} management
 */
function meter(management) {
    /** @type {[number, number][]} */
    const marks = [[Date.now(), management.lastId]];
    return () => {
        const now = Date.now();
        if (now - marks[marks.length - 1][0] > 500) marks.push([now, management.lastId]);
        while (marks.length > 2 && now - marks[1][0] > 8000) marks.shift();
        const [at, count] = marks[0];
        return now > at ? (1000 * (management.lastId - count)) / (now - at) : 0;
    };
}

function Console() {
    const [app, setApp] = useState(/** @type {App | null} */ (null));
    const [error, setError] = useState(/** @type {any} */ (null));
    const [isTrying, setTrying] = useState(sessionStorage.getItem(ANONYMOUS_KEY) === 'yes');
    const [lost, setLost] = useState(/** @type {{reason: any, at: number} | null} */ (null));
    const [toast, setToast] = useState('');
    const current = useRef(/** @type {App | null} */ (null));
    const credentials = useRef(/** @type {Credentials} */ (null));
    const say = useCallback((/** @type {string} */ text) => setToast(text), []);

    useEffect(() => {
        if (!toast) return undefined;
        const timer = setTimeout(() => setToast(''), TOAST_MS);
        return () => clearTimeout(timer);
    }, [toast]);

    const adopt = (/** @type {App} */ opened) => {
        current.current = opened;
        opened.management.onLost = (reason) => {
            opened.mesh.stop();
            setLost({ reason, at: Date.now() });
            again(opened, 0);
        };
        setApp(opened);
        setLost(null);
    };
    const again = (/** @type {App} */ before, /** @type {number} */ attempt) => {
        setTimeout(async () => {
            if (current.current !== before) return;
            try {
                const opened = await open(credentials.current, say, before);
                if (current.current === before) adopt(opened);
                else opened.management.close();
            } catch (problem) {
                if (/** @type {any} */ (problem).status === 401) signOut(problem);
                else again(before, attempt + 1);
            }
        }, AGAIN_MS[Math.min(attempt, AGAIN_MS.length - 1)]);
    };
    const signIn = async (/** @type {Credentials} */ given) => {
        setTrying(true);
        setError(null);
        credentials.current = given;
        try {
            adopt(await open(given, say, null));
            sessionStorage.setItem(ANONYMOUS_KEY, given ? 'no' : 'yes');
        } catch (problem) {
            sessionStorage.removeItem(ANONYMOUS_KEY);
            setError(problem instanceof ManagementError ? problem : new ManagementError(0, `The console failed: ${/** @type {Error} */ (problem).message}`));
        }
        setTrying(false);
    };
    const signOut = (/** @type {any} */ reason = null) => {
        const opened = current.current;
        current.current = null;
        credentials.current = null;
        opened?.mesh.stop();
        opened?.management.close();
        sessionStorage.removeItem(ANONYMOUS_KEY);
        setLost(null);
        setApp(null);
        setError(reason);
    };
    useEffect(() => {
        if (isTrying) signIn(null);
    }, []);

    if (!app) return html`<${SignIn} onSignIn=${signIn} error=${error} isTrying=${isTrying} />`;
    return html`<${Frame} app=${app} lost=${lost} signOut=${() => signOut()} user=${credentials.current?.user} />
        <div class="toasts" role="status" aria-live="polite">${toast && html`<p class="toast">${toast}</p>`}</div>`;
}

/** @param {{app: App, lost: {reason: any, at: number} | null, signOut: () => void, user: string | undefined}} props */
function Frame({ app, lost, signOut, user }) {
    const route = useRoute();
    const [isMenuOpen, setMenuOpen] = useState(false);
    const main = useRef(/** @type {any} */ (null));
    const view = VIEWS.get(route.view);
    const isFirst = useRef(true);
    useEffect(() => {
        setMenuOpen(false);
        document.title = `${view?.[1] ?? 'Not found'} · Mobula`;
        if (isFirst.current) isFirst.current = false;
        else main.current?.querySelector('h1')?.focus({ preventScroll: true });
        main.current?.scrollTo(0, 0);
    }, [route.view]);
    return html`<div class="frame">
        <a class="skip" href="#main" onClick=${(/** @type {any} */ event) => { event.preventDefault(); main.current.querySelector('h1')?.focus(); }}>Skip to the view</a>
        <${Bar} app=${app} route=${route} scope=${view?.[3] ?? ''} isMenuOpen=${isMenuOpen} setMenuOpen=${setMenuOpen} signOut=${signOut} user=${user} />
        <${Navigation} route=${route} isOpen=${isMenuOpen} />
        ${isMenuOpen && html`<div class="shade" onClick=${() => setMenuOpen(false)}></div>`}
        <main id="main" ref=${main}>
            ${lost && html`<div class="problem" role="alert"><strong>The connection was lost at ${clock(lost.at)}: ${lost.reason.message}</strong><span>It is tried again. What you see is from before.</span></div>`}
            ${view ? html`<${view[2]} key=${view[0]} app=${app} route=${route} />`
                : html`<${Head} title="Not found" /><${Empty} title=${`There is no view ${route.view}`}><a href=${link('overview')}>Go to the overview.</a><//>`}
        </main>
    </div>`;
}

/** @param {{app: App, route: import('./route.js').Route, scope: string, isMenuOpen: boolean, setMenuOpen: (isOpen: boolean) => void, signOut: () => void, user: string | undefined}} props */
function Bar({ app, route, scope, isMenuOpen, setMenuOpen, signOut, user }) {
    const mesh = useMesh(app.mesh);
    return html`<header class="bar">
        <button type="button" class="quiet menu" aria-label="Menu" aria-expanded=${isMenuOpen ? 'true' : 'false'} aria-controls="navigation" onClick=${() => setMenuOpen(!isMenuOpen)}><${Icon} name="menu" /></button>
        <a class="brand" href=${link('overview')} aria-label="Mobula, overview"><img src="icon.svg" alt="" width="22" height="22" /><span>Mobula</span></a>
        ${scope && html`<${RouterChoice} mesh=${mesh} route=${route} hasAll=${scope === 'all'} />`}
        <span class="gap"></span>
        <button type="button" class=${`quiet live ${mesh.isPaused ? 'paused' : ''}`} aria-pressed=${mesh.isPaused ? 'true' : 'false'} title=${mesh.isPaused ? 'Go on' : 'Hold what is shown'} onClick=${() => mesh.pause(!mesh.isPaused)}>
            <${Icon} name=${mesh.isPaused ? 'play' : 'pause'} /><span>${mesh.isPaused ? 'Paused' : 'Live'}</span></button>
        <${Theme} />
        <button type="button" class="quiet" onClick=${signOut} title="Sign out"><${Icon} name="leave" /><span class="wide-only">${user ?? 'anonymous'}</span><span class="sr">, sign out</span></button>
    </header>`;
}

/** @param {{mesh: Mesh, route: import('./route.js').Route, hasAll: boolean}} props */
function RouterChoice({ mesh, route, hasAll }) {
    const chosen = route.query.router || mesh.ownId;
    const options = mesh.list.map((one) => [one.id, `${one.id}${one.state === 'up' ? '' : ` (${one.state})`}`]);
    if (hasAll) options.unshift(['*', 'All routers']);
    if (!options.some(([id]) => id === chosen)) options.push([chosen, `${chosen} (unknown)`]);
    const choose = (/** @type {any} */ event) => {
        location.hash = link(route.view, route.view === 'entities' ? route.path.slice(0, 1) : [], { ...route.query, router: event.target.value });
    };
    return html`<label class="router-choice"><span>Router</span><select aria-label="Router" value=${chosen} onChange=${choose}>
        ${options.map(([id, text]) => html`<option key=${id} value=${id} selected=${id === chosen}>${text}</option>`)}</select></label>`;
}

/** @param {{route: import('./route.js').Route, isOpen: boolean}} props */
function Navigation({ route, isOpen }) {
    const { router } = route.query;
    return html`<nav id="navigation" class=${`navigation ${isOpen ? 'open' : ''}`} aria-label="Views">
        ${NAVIGATION.map((group) => html`<h2>${group.title}</h2><ul>${group.views.map(([name, title, , scope]) => html`<li key=${name}>
            <a href=${link(name, [], scope && router && (scope === 'all' || router !== '*') ? { router } : {})} aria-current=${route.view === name ? 'page' : undefined}><${Icon} name=${name} />${title}</a></li>`)}</ul>`)}
    </nav>`;
}

function Theme() {
    const isDark = () => {
        const chosen = document.documentElement.dataset.theme;
        return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    };
    const [dark, setDark] = useState(isDark());
    const toggle = () => {
        const theme = dark ? 'light' : 'dark';
        document.documentElement.dataset.theme = theme;
        localStorage.setItem('mobula.theme', theme);
        setDark(!dark);
    };
    return html`<button type="button" class="quiet" aria-label=${dark ? 'Light colours' : 'Dark colours'} title=${dark ? 'Light colours' : 'Dark colours'} onClick=${toggle}><${Icon} name=${dark ? 'sun' : 'moon'} /></button>`;
}

render(html`<${Console} />`, /** @type {HTMLElement} */ (document.getElementById('app')));
