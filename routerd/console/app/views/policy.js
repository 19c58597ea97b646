/** What clients may do at a router, and what was refused. */

import { html } from '../html.js';
import { count, text } from '../format.js';
import { PREFIX } from '../management.js';
import { link } from '../route.js';
import { Empty, Facts, Head, Loading, Panel, Problem, Stat, Status } from '../parts/bits.js';
import { Table } from '../parts/table.js';
import { useLoad, useMesh } from '../parts/use.js';

/** @param {{app: import('../main.js').App, route: import('../route.js').Route}} props */
export function Policy({ app, route }) {
    const mesh = useMesh(app.mesh);
    const router = route.query.router && route.query.router !== '*' ? route.query.router : mesh.ownId;
    const path = mesh.path(router);
    const { data, error } = useLoad(async () => {
        const [policy, vhosts, stats] = await Promise.all(['policy', 'vhost', 'vhostStats'].map((one) => app.management.query(path, PREFIX + one, [], { operation: 'query' })));
        return { policy: policy[0] ?? {}, vhosts, stats };
    }, [router], { mesh, everyMs: 4000 });
    if (!data) return html`<${Head} title="Policy" /><${Problem} error=${error} />${!error && html`<${Loading} />`}`;
    const { policy, vhosts, stats } = data;
    const isOn = policy.enableVhostPolicy === true;
    return html`<${Head} title="Policy" about=${html`<${Status} tone=${isOn ? 'ok' : 'idle'}>${isOn ? 'virtual hosts say who may do what' : 'virtual hosts have no policy'}<//> at router ${router}`} />
        <${Problem} error=${error} />
        <div class="stats">
            <${Stat} label="Connections of clients" value=${count(policy.connectionsCurrent)} note=${`of ${count(policy.maxConnections)} at most`} />
            <${Stat} label="Processed" value=${count(policy.connectionsProcessed)} note="connections so far" />
            <${Stat} label="Refused" value=${count(policy.connectionsDenied)} tone=${policy.connectionsDenied ? 'warn' : undefined} note="connections" />
            <${Stat} label="Links refused" value=${count(policy.linksDenied)} tone=${policy.linksDenied ? 'warn' : undefined} href=${link('log', [], { router, module: 'POLICY' })} />
            <${Stat} label="Too large" value=${count(policy.maxMessageSizeDenied)} tone=${policy.maxMessageSizeDenied ? 'warn' : undefined} note="messages refused" />
        </div>
        <${Panel} title="Settings"><${Facts} pairs=${[
            ['Virtual hosts have policy', text(policy.enableVhostPolicy)], ['Names are patterns', text(policy.enableVhostNamePatterns)], ['Default virtual host', text(policy.defaultVhost)],
            ['Directory', text(policy.policyDir)], ['Largest message', policy.maxMessageSize ? count(policy.maxMessageSize) : 'no limit'],
        ]} /><//>
        <${Panel} title="Virtual hosts" tools=${html`<a href=${link('entities', ['vhost'], { router: route.query.router })}>Create or change</a>`}>
            ${vhosts.length ? html`<ul class="vhosts">${vhosts.map((one) => html`<li key=${one.identity}><${Vhost} vhost=${one} router=${router} stats=${stats.find((other) => (other.hostname ?? other.id) === one.hostname)} /></li>`)}</ul>`
                : html`<${Empty} title="No virtual hosts are configured">${isOn ? 'Nobody gets in without one. Create a vhost, or write one into a file of policyDir.' : 'Everybody may do everything. Set enableVhostPolicy in the section policy to change that.'}<//>`}<//>`;
}

/** @param {{vhost: import('../management.js').Row, stats: import('../management.js').Row | undefined, router: string}} props */
function Vhost({ vhost, stats, router }) {
    const groups = Object.entries(vhost.groups ?? {}).map(([name, one]) => ({ name, .../** @type {any} */ (one) }));
    return html`<h3><a href=${link('entities', ['vhost', vhost.identity], { router })}>${vhost.hostname}</a></h3>
        <${Facts} pairs=${[
            ['Connections', `${count(stats?.connectionsCurrent ?? 0)} of ${count(vhost.maxConnections)}`], ['A user', `${count(vhost.maxConnectionsPerUser)} at most`], ['A host', `${count(vhost.maxConnectionsPerHost)} at most`],
            ['Unknown users', vhost.allowUnknownUser ? 'get in, as $default' : 'stay out'], ['Refused', `${count(stats?.connectionsDenied ?? 0)} connections, ${count((stats?.senderDenied ?? 0) + (stats?.receiverDenied ?? 0))} links`],
        ]} />
        ${groups.length ? html`<${Table} label=${`Groups of ${vhost.hostname}`} isTall=${false} rows=${groups} rowKey=${(/** @type {any} */ row) => row.name} columns=${[
            { key: 'name', title: 'Group' },
            { key: 'users', title: 'Users', width: 160, cell: (/** @type {any} */ row) => text(row.users) },
            { key: 'remoteHosts', title: 'Hosts', width: 140, from: 'narrow', cell: (/** @type {any} */ row) => text(row.remoteHosts) },
            { key: 'sources', title: 'Receives from', width: 170, cell: (/** @type {any} */ row) => text(row.sources ?? row.sourcePattern) },
            { key: 'targets', title: 'Sends to', width: 170, cell: (/** @type {any} */ row) => text(row.targets ?? row.targetPattern) },
            { key: 'allowManagementChanges', title: 'May change', width: 100, from: 'medium', cell: (/** @type {any} */ row) => text(row.allowManagementChanges ?? true) },
        ]} />` : html`<${Empty} title="No groups">Nobody may do anything here.<//>`}`;
}
