/** Small parts that views share. */

import { html } from '../html.js';

/** @typedef {'ok' | 'warn' | 'bad' | 'idle' | 'info'} Tone */

/**
 * A state, by colour and by word.
 * @param {{tone: Tone, children?: any, title?: string}} props
 */
export function Status({ tone, children, title }) {
    return html`<span class=${`status ${tone}`} title=${title}><span class="dot" aria-hidden="true"></span>${children}</span>`;
}

/** The state of a router. @param {{router: import('../mesh.js').RouterView}} props */
export function RouterStatus({ router }) {
    const [tone, word] = /** @type {Record<string, [Tone, string]>} */ ({
        new: ['idle', 'looking'], up: ['ok', 'up'], silent: ['bad', 'no answer'], lost: ['bad', 'lost'],
    })[router.state];
    return html`<${Status} tone=${tone} title=${router.error}>${word}<//>`;
}

/**
 * What a view is: its title, a sentence, and what can be done.
 * @param {{title: any, about?: any, children?: any}} props
 */
export function Head({ title, about, children }) {
    return html`<header class="view-head">
        <div class="view-title"><h1 tabindex="-1">${title}</h1>${about && html`<p>${about}</p>`}</div>
        ${children && html`<div class="tools">${children}</div>`}
    </header>`;
}

/**
 * @param {{title?: any, tools?: any, class?: string, children?: any, id?: string}} props
 */
export function Panel({ title, tools, class: name = '', children }) {
    return html`<section class=${`panel ${name}`}>
        ${title && html`<div class="panel-head"><h2>${title}</h2>${tools && html`<div class="tools">${tools}</div>`}</div>`}
        ${children}
    </section>`;
}

/**
 * Nothing to show, and what to do about it.
 * @param {{title: any, children?: any}} props
 */
export function Empty({ title, children }) {
    return html`<div class="empty"><p class="empty-title">${title}</p>${children && html`<p>${children}</p>`}</div>`;
}

/**
 * Something that went wrong, and what to do about it.
 * @param {{error: any, what?: string}} props
 */
export function Problem({ error, what }) {
    if (!error) return null;
    return html`<div class="problem" role="alert">
        <strong>${what ? `${what}: ` : ''}${error.message ?? String(error)}</strong>
        ${error.advice && html`<span>${error.advice}</span>`}
    </div>`;
}

/**
 * A sentence of the schema, whose names are between backquotes.
 * @param {{text: string | undefined}} props
 */
export function Prose({ text = '' }) {
    return html`${text.split('`').map((part, at) => (at % 2 ? html`<code>${part}</code>` : part))}`;
}

/** @param {{what?: string}} props */
export function Loading({ what = 'Loading' }) {
    return html`<p class="loading" role="status">${what} …</p>`;
}

/**
 * A figure with its name.
 * @param {{label: any, value: any, note?: any, tone?: Tone, href?: string, children?: any}} props
 */
export function Stat({ label, value, note, tone, href, children }) {
    const inner = html`<span class="stat-label">${label}</span><span class=${`stat-value ${tone ?? ''}`}>${value}</span>
        ${note && html`<span class="stat-note">${note}</span>`}${children}`;
    return href ? html`<a class="stat" href=${href}>${inner}</a>` : html`<div class="stat">${inner}</div>`;
}

/**
 * A line of the latest values, drawn without a scale; the figure beside it says what it is.
 * @param {{values: (number | null)[], label?: string, tone?: string}} props
 */
export function Sparkline({ values, tone = '' }) {
    const known = values.filter((one) => one !== null);
    if (known.length < 2) return html`<svg class="spark" aria-hidden="true" viewBox="0 0 100 24" preserveAspectRatio="none"><polyline points="0,22 100,22" /></svg>`;
    const most = Math.max(...known, 1e-9);
    const points = values
        .map((one, at) => (one === null ? '' : `${((100 * at) / (values.length - 1)).toFixed(1)},${(22 - (20 * one) / most).toFixed(1)}`))
        .filter(Boolean);
    return html`<svg class=${`spark ${tone}`} aria-hidden="true" viewBox="0 0 100 24" preserveAspectRatio="none">
        <polygon points=${`0,24 ${points.join(' ')} 100,24`} /><polyline points=${points.join(' ')} />
    </svg>`;
}

/**
 * Names and values.
 * @param {{pairs: [any, any, string?][]}} props
 */
export function Facts({ pairs }) {
    return html`<dl class="facts">
        ${pairs.map(([name, value, title]) => html`<div title=${title}><dt>${name}</dt><dd>${value}</dd></div>`)}
    </dl>`;
}

/**
 * A field to filter a list by.
 * @param {{value: string, onInput: (text: string) => void, label?: string}} props
 */
export function Search({ value, onInput, label = 'Filter' }) {
    return html`<input class="search" type="search" placeholder=${label} aria-label=${label} value=${value} spellcheck="false"
        onInput=${(/** @type {any} */ event) => onInput(event.target.value)} />`;
}

/**
 * @param {{value: string, options: [string, string][], onChange: (value: string) => void, label: string, class?: string}} props
 */
export function Choice({ value, options, onChange, label, class: name = '' }) {
    return html`<select class=${name} aria-label=${label} value=${value} onChange=${(/** @type {any} */ event) => onChange(event.target.value)}>
        ${options.map(([one, text]) => html`<option value=${one} selected=${one === value}>${text}</option>`)}
    </select>`;
}

const ICONS = /** @type {Record<string, string>} */ ({
    overview: 'M3 12h4l2-6 4 12 2-6h6',
    topology: 'M12 5v5M12 10l-6 6M12 10l6 6M12 3.500a1.500 1.500 0 1 0 .01 0M5 17.500a1.500 1.500 0 1 0 .01 0M19 17.500a1.500 1.500 0 1 0 .01 0',
    routers: 'M4 5h16v6H4zM4 13h16v6H4zM7 8h.01M7 16h.01',
    connections: 'M9 7V4M15 7V4M7 7h10v4a5 5 0 0 1-10 0zM12 16v5',
    links: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
    addresses: 'M4 7h16M4 12h16M4 17h10',
    'link-routes': 'M4 6h6l4 12h6M17 15l3 3-3 3M4 18h5M15 6h5',
    policy: 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z',
    log: 'M5 4h14v16H5zM8 8h8M8 12h8M8 16h5',
    charts: 'M4 4v16h16M8 15l3-4 3 2 5-7',
    explain: 'M12 17h.01M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 3a9 9 0 1 0 .01 0',
    entities: 'M12 3l8 4-8 4-8-4zM4 12l8 4 8-4M4 17l8 4 8-4',
    menu: 'M4 6h16M4 12h16M4 18h16',
    close: 'M6 6l12 12M18 6L6 18',
    pause: 'M8 5v14M16 5v14',
    play: 'M7 5l12 7-12 7z',
    sun: 'M12 8a4 4 0 1 0 .01 0M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500L19 19M5 19l1.500-1.500M17.500 6.500L19 5',
    moon: 'M20 14a8 8 0 1 1-9-10 6.500 6.500 0 0 0 9 10z',
    leave: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
    plus: 'M12 5v14M5 12h14',
});

/** @param {{name: string}} props */
export function Icon({ name }) {
    return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${ICONS[name]} /></svg>`;
}
