/** Where one is in the console, as the part of the address behind `#`: `#/links/A/12?filter=orders`. */

import { useEffect, useState } from './html.js';

/** @typedef {{view: string, path: string[], query: Record<string, string>}} Route */

/**
 * @param {string} hash
 * @returns {Route}
 */
export function parse(hash) {
    const [path, query = ''] = hash.replace(/^#\/?/, '').split('?');
    const parts = path.split('/').filter(Boolean).map(decode);
    return { view: parts[0] ?? 'overview', path: parts.slice(1), query: Object.fromEntries(new URLSearchParams(query)) };
}

/** @param {string} part */
function decode(part) {
    try {
        return decodeURIComponent(part);
    } catch {
        return part;
    }
}

/**
 * @param {string} view
 * @param {string[]} [path]
 * @param {Record<string, string | undefined | null>} [query]
 */
export function link(view, path = [], query = {}) {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
        if (value) parameters.set(name, value);
    }
    const behind = parameters.toString();
    return `#/${[view, ...path].map(encodeURIComponent).join('/')}${behind ? `?${behind}` : ''}`;
}

/** @returns {Route} */
export function useRoute() {
    const [route, setRoute] = useState(() => parse(location.hash));
    useEffect(() => {
        const update = () => setRoute(parse(location.hash));
        addEventListener('hashchange', update);
        return () => removeEventListener('hashchange', update);
    }, []);
    return route;
}

/**
 * Change a part of the query, without a step in the browser's history.
 * @param {Route} route
 * @param {Record<string, string | undefined | null>} changes
 */
export function replaceQuery(route, changes) {
    history.replaceState(null, '', link(route.view, route.path, { ...route.query, ...changes }));
    dispatchEvent(new Event('hashchange'));
}

/** @param {string} address */
export function go(address) {
    location.hash = address;
}
