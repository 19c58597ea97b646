/** Signing in, by SASL. */

import { html, useEffect, useRef, useState } from '../html.js';
import { hasScram } from '../sasl.js';
import { Problem } from '../parts/bits.js';

/**
 * @param {{onSignIn: (credentials: {user: string, password: string} | null) => Promise<void>, error: any, isTrying: boolean}} props
 */
export function SignIn({ onSignIn, error, isTrying }) {
    const [user, setUser] = useState('');
    const [password, setPassword] = useState('');
    const field = useRef(/** @type {any} */ (null));
    useEffect(() => field.current?.focus(), []);
    const isPlain = location.protocol !== 'https:' && !/^(localhost|127\.|\[::1\])/.test(location.hostname);
    const submit = (/** @type {any} */ event) => {
        event.preventDefault();
        onSignIn(user ? { user, password } : null);
    };
    return html`<main class="sign-in"><form onSubmit=${submit}>
        <img src="icon.svg" alt="" width="44" height="44" />
        <h1>Mobula</h1><p class="muted">Sign in to the router at ${location.host}</p>
        <${Problem} error=${error} />
        <label for="user">User name</label>
        <input id="user" ref=${field} type="text" autocomplete="username" autocapitalize="none" spellcheck="false" value=${user} onInput=${(/** @type {any} */ event) => setUser(event.target.value)} />
        <label for="password">Password</label>
        <input id="password" type="password" autocomplete="current-password" value=${password} onInput=${(/** @type {any} */ event) => setPassword(event.target.value)} />
        ${isPlain && user && html`<p class="hint">${hasScram() ? '' : 'This page came without TLS, so a password can be read on its way. Open it over HTTPS.'}</p>`}
        <button type="submit" class="primary" disabled=${isTrying || !user}>${isTrying && user ? 'Signing in …' : 'Sign in'}</button>
        <div class="or"><span>or</span></div>
        <button type="button" disabled=${isTrying} onClick=${() => onSignIn(null)}>Continue without a name</button>
        <p class="hint">What you may see and change is what the policy of the router allows. Passwords stay in this page, and are forgotten with it.</p>
    </form></main>`;
}
