/** Dialogs: the browser keeps the focus inside, and gives it back. */

import { html, useEffect, useRef, useState } from '../html.js';
import { Icon, Problem } from './bits.js';

/** @param {{title: any, onClose: () => void, children?: any, isWide?: boolean}} props */
export function Dialog({ title, onClose, children, isWide }) {
    const dialog = useRef(/** @type {any} */ (null));
    useEffect(() => {
        const element = dialog.current;
        element.showModal();
        return () => element.close();
    }, []);
    return html`<dialog ref=${dialog} class=${isWide ? 'wide' : ''} aria-labelledby="dialog-title"
        onCancel=${(/** @type {any} */ event) => { event.preventDefault(); onClose(); }}>
        <header><h2 id="dialog-title">${title}</h2>
            <button type="button" class="quiet" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button></header>
        ${children}
    </dialog>`;
}

/**
 * Ask before something that can't be taken back.
 * @param {{title: string, children?: any, action: string, run: () => Promise<unknown>, onClose: (isDone: boolean) => void}} props
 */
export function Confirm({ title, children, action, run, onClose }) {
    const [error, setError] = useState(/** @type {any} */ (null));
    const [isRunning, setRunning] = useState(false);
    const go = async () => {
        setRunning(true);
        setError(null);
        try {
            await run();
            onClose(true);
        } catch (problem) {
            setError(problem);
            setRunning(false);
        }
    };
    return html`<${Dialog} title=${title} onClose=${() => onClose(false)}>
        <div class="dialog-body">${children}<${Problem} error=${error} /></div>
        <footer><button type="button" onClick=${() => onClose(false)}>Keep</button>
            <button type="button" class="danger" disabled=${isRunning} onClick=${go}>${action}</button></footer>
    <//>`;
}
