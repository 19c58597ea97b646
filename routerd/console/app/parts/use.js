/** Hooks: what has a component drawn again. */

import { useCallback, useEffect, useReducer, useRef, useState } from '../html.js';

/**
 * Draw again when the network has changed.
 * @param {import('../mesh.js').Mesh} mesh
 */
export function useMesh(mesh) {
    const [, redraw] = useReducer((/** @type {number} */ count) => count + 1, 0);
    useEffect(() => mesh.subscribe(() => redraw(undefined)), [mesh]);
    return mesh;
}

/**
 * Load data, again and again: what was loaded stays until there is newer.
 * @template T
 * @param {() => Promise<T>} load
 * @param {unknown[]} keys with other keys, what was loaded before is forgotten
 * @param {{mesh: import('../mesh.js').Mesh, everyMs?: number}} options
 */
export function useLoad(load, keys, { mesh, everyMs = 3000 }) {
    const [state, setState] = useState(/** @type {{key: string, data?: T, error?: any, at: number}} */ ({ key: '', at: 0 }));
    const key = JSON.stringify(keys);
    const latest = useRef(load);
    latest.current = load;
    const run = useRef(0);
    const refresh = useCallback(async () => {
        const mine = ++run.current;
        const began = performance.now();
        try {
            const data = await latest.current();
            if (mine === run.current) setState({ key, data, at: Date.now() });
        } catch (error) {
            if (mine === run.current) setState((before) => ({ key, data: before.key === key ? before.data : undefined, error, at: Date.now() }));
        }
        return performance.now() - began;
    }, [key]);
    useEffect(() => {
        let isOver = false;
        /** @type {any} */
        let timer;
        const loop = async () => {
            const isDue = !mesh.isPaused && !document.hidden;
            const took = isDue ? await refresh() : 0;
            // A long list is asked for less often, so that asking is never most of what a router does.
            if (!isOver) timer = setTimeout(loop, Math.max(everyMs, 4 * took));
        };
        refresh().then((took) => {
            if (!isOver) timer = setTimeout(loop, Math.max(everyMs, 4 * took));
        });
        return () => {
            isOver = true;
            run.current += 1;
            clearTimeout(timer);
        };
    }, [refresh, mesh, everyMs]);
    const isCurrent = state.key === key;
    return { data: isCurrent ? state.data : undefined, error: isCurrent ? state.error : undefined, at: state.at, refresh };
}

/**
 * The size of an element.
 * @returns {[{current: any}, {width: number, height: number}]}
 */
export function useSize() {
    const ref = useRef(/** @type {any} */ (null));
    const [size, setSize] = useState({ width: 0, height: 0 });
    useEffect(() => {
        if (!ref.current) return undefined;
        const observer = new ResizeObserver(([entry]) => {
            const { width, height } = entry.contentRect;
            setSize({ width: Math.floor(width), height: Math.floor(height) });
        });
        observer.observe(ref.current);
        return () => observer.disconnect();
    }, []);
    return [ref, size];
}
