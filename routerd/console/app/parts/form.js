/** A form that creates or changes an entity, made from the schema. */

import { html, useMemo, useState } from '../html.js';
import { entryOf, fieldKind, formAttributes, isMain, namedAttribute, valueOf } from '../schema.js';
import { Problem, Prose } from './bits.js';
import { Dialog } from './dialog.js';

/** @typedef {import('../schema.js').AttributeSchema} AttributeSchema */
/** @typedef {import('../management.js').Row} Row */

/**
 * @param {object} props
 * @param {string} props.name of the type
 * @param {import('../schema.js').TypeSchema} props.type
 * @param {Row} [props.entity] the one that is changed; without it one is created
 * @param {(values: Row) => Promise<unknown>} props.save
 * @param {() => void} props.onClose
 */
export function EntityForm({ name, type, entity, save, onClose }) {
    const attributes = useMemo(() => formAttributes(type, name, entity ? 'update' : 'create'), [type, name, Boolean(entity)]);
    const [entries, setEntries] = useState(/** @type {Record<string, string>} */ (
        Object.fromEntries(attributes.map(([one]) => [one, entity ? entryOf(entity[one]) : '']))));
    const [problem, setProblem] = useState(/** @type {{error: any, at?: string} | null} */ (null));
    const [isSaving, setSaving] = useState(false);
    const main = entity ? attributes : attributes.filter(([one, schema]) => isMain(one, schema));
    const more = attributes.filter((one) => !main.includes(one));

    const submit = async (/** @type {any} */ event) => {
        event.preventDefault();
        const collected = collect(attributes, entries, entity);
        if (collected.problem) {
            show(collected.problem);
            return;
        }
        setSaving(true);
        setProblem(null);
        try {
            await save(collected.values);
            onClose();
        } catch (error) {
            setSaving(false);
            show({ error, at: namedAttribute(/** @type {Error} */ (error).message, attributes.map(([one]) => one)) });
        }
    };
    const show = (/** @type {{error: any, at?: string}} */ found) => {
        setProblem(found);
        if (found.at) {
            const field = document.getElementById(`field-${found.at}`);
            field?.closest('details')?.setAttribute('open', '');
            field?.focus();
        }
    };
    const field = (/** @type {[string, AttributeSchema]} */ [one, schema]) => html`<${Field} key=${one} name=${one} schema=${schema} value=${entries[one]}
        error=${problem?.at === one ? problem.error : null} onInput=${(/** @type {string} */ text) => setEntries((before) => ({ ...before, [one]: text }))} />`;
    return html`<${Dialog} title=${entity ? `Change ${entity.name ?? entity.identity}` : `Create ${name}`} onClose=${onClose} isWide>
        <form class="entity-form" onSubmit=${submit} novalidate>
            <div class="dialog-body">
                <p class="muted">${type.description}${entity ? '' : ' It lasts until the router ends; what is to stay belongs into its configuration file.'}</p>
                ${problem && !problem.at && html`<${Problem} error=${problem.error} />`}
                <div class="fields">${main.map(field)}</div>
                ${more.length > 0 && html`<details><summary>More: ${more.length} attributes that have defaults</summary><div class="fields">${more.map(field)}</div></details>`}
            </div>
            <footer><button type="button" onClick=${onClose}>Cancel</button>
                <button type="submit" class="primary" disabled=${isSaving}>${entity ? 'Change' : 'Create'}</button></footer>
        </form>
    <//>`;
}

/**
 * @param {[string, AttributeSchema][]} attributes
 * @param {Record<string, string>} entries
 * @param {Row | undefined} entity
 * @returns {{values: Row, problem?: {error: any, at: string}}}
 */
function collect(attributes, entries, entity) {
    /** @type {Row} */
    const values = {};
    for (const [one, schema] of attributes) {
        try {
            const value = valueOf(schema, entries[one]);
            const isChanged = !entity || entries[one] !== entryOf(entity[one]);
            // Null takes a value back to its default.
            if (isChanged && (value !== undefined || entity)) values[one] = value ?? null;
            if (!entity && schema.required && value === undefined) throw new Error('This is required.');
        } catch (error) {
            return { values, problem: { error, at: one } };
        }
    }
    return { values };
}

/**
 * @param {{name: string, schema: AttributeSchema, value: string, error: any, onInput: (text: string) => void}} props
 */
function Field({ name, schema, value, error, onInput }) {
    const id = `field-${name}`;
    const kind = fieldKind(name, schema);
    const common = {
        id, value, 'aria-describedby': `${id}-about`, 'aria-invalid': error ? 'true' : undefined,
        'aria-required': schema.required ? 'true' : undefined,
        onInput: (/** @type {any} */ event) => onInput(event.target.value),
    };
    const unset = schema.default === undefined ? 'not set' : `default: ${entryOf(schema.default)}`;
    const options = kind === 'choice' ? /** @type {string[]} */ (schema.type) : ['true', 'false'];
    const control = kind === 'choice' || kind === 'boolean'
        ? html`<select ...${common}><option value="" selected=${value === ''}>${kind === 'boolean' && schema.default === undefined ? 'default' : unset}</option>
            ${options.map((one) => html`<option value=${one} selected=${value === one}>${kind === 'boolean' ? (one === 'true' ? 'yes' : 'no') : one}</option>`)}</select>`
        : kind === 'long'
            ? html`<textarea ...${common} rows="3" spellcheck="false"></textarea>`
            : html`<input ...${common} type=${kind === 'secret' ? 'password' : 'text'} inputmode=${kind === 'number' ? 'numeric' : undefined}
                placeholder=${schema.default === undefined ? '' : entryOf(schema.default)} autocomplete="off" spellcheck="false" />`;
    return html`<div class=${`field ${error ? 'wrong' : ''} ${kind === 'long' ? 'long' : ''}`}>
        <label for=${id}>${name}${schema.required && html`<span class="required" title="required"> required</span>`}</label>
        ${control}
        <p class="about" id=${`${id}-about`}>${error && html`<strong role="alert">${error.message}</strong>`}<${Prose} text=${schema.description} /></p>
    </div>`;
}
