/** Declares the commands for the account and its machines. */
import type { Command } from 'commander';
import { type Run, addCommand } from './add-command.ts';
import { activityCommand } from './activity.ts';
import { addAcpTokenCommands } from './acp-token.ts';
import { addDeviceKeyCommands } from './device-keys.ts';
import {
  listDevicesCommand,
  pingDeviceCommand,
  removeDeviceCommand,
  renameDeviceCommand,
  showDeviceCommand,
} from './devices.ts';
import { loginCommand } from './login.ts';
import { logoutCommand } from './logout.ts';
import { whoamiCommand } from './whoami.ts';
import { deleteAccountCommand, exportAccountCommand } from './your-account.ts';

export function addAccountCommands(program: Command, run: Run): void {
  addCommand(
    program,
    'login',
    'sign in through the browser',
    'relay login --url https://relay.example.com',
    'relay login --no-browser                        print the link, open no browser',
    'ssh -L 8765:127.0.0.1:8765 box relay login --no-browser --port 8765   sign in on another machine',
    'relay login --url https://relay.example.com --token - < token.txt     a relay with another issuer',
  )
    .option('--no-browser', 'print the link without opening a browser')
    .option('--insecure', 'allow plain http to another machine: anyone on the network can read the credential')
    .option('--port <number>', 'port on 127.0.0.1 for the answer of the browser (default: any free port)')
    .option('--token <token>', 'use this access token instead; "-" reads it from standard input')
    .action(run(loginCommand));

  addCommand(
    program,
    'logout',
    'sign out: revoke the sign-in and delete it here',
    'relay logout',
    'relay logout --url http://localhost:4000',
  )
    .option('--force', 'delete it here even if the relay cannot revoke it')
    .action(run(logoutCommand));

  addCommand(
    program,
    'whoami',
    'show the relay, your account and your permissions',
    'relay whoami',
    'relay whoami --all --json',
  )
    .option('--all', 'list every relay you are signed in to, without contacting them')
    .action(run(whoamiCommand));

  const account = addCommand(
    program,
    'account',
    'export the data the relay keeps about you, or delete your account',
    'relay account export --out relay-account.json',
    'relay account delete',
  );
  addCommand(
    account,
    'export',
    'export everything the relay keeps about you, as JSON',
    'relay account export --out me.json',
  )
    .option('--out <file>', 'write to this new file, which only you can read')
    .action(run(exportAccountCommand));
  addCommand(
    account,
    'activity',
    'show what was done in your name: changes and sign-ins of the last 90 days',
    'relay account activity',
    'relay account activity --limit 1000 --json | jq ".entries[] | select(.outcome != \"done\")"',
  )
    .option('--limit <number>', 'how many of the newest', '50')
    .action(run(activityCommand));
  addCommand(account, 'delete', 'delete your account and all its data for good', 'relay account delete')
    .option('-y, --yes', 'skip the confirmation')
    .action(run(deleteAccountCommand));

  addDeviceCommands(program, run);
}

function addDeviceCommands(program: Command, run: Run): void {
  const devices = addCommand(
    program,
    'devices',
    'list your devices',
    'relay devices',
    'relay devices --json | jq -r ".devices[].id"',
    'relay devices show laptop',
  ).action(run(listDevicesCommand));
  addCommand(devices, 'show', 'show a device and its connections', 'relay devices show laptop')
    .argument('<device>', 'id or name')
    .action(run(showDeviceCommand));
  addCommand(devices, 'ping', 'ask the daemon of a device whether it answers', 'relay devices ping laptop')
    .argument('<device>', 'id or name')
    .action(run(pingDeviceCommand));
  addCommand(devices, 'rename', 'rename a device', 'relay devices rename laptop "Old laptop"')
    .argument('<device>', 'id or name')
    .argument('<name>', 'the new name')
    .action(run(renameDeviceCommand));
  addCommand(devices, 'remove', 'remove a device and revoke its credential', 'relay devices remove laptop --yes')
    .argument('<device>', 'id or name')
    .option('-y, --yes', 'skip the confirmation')
    .action(run(removeDeviceCommand));
  addDeviceKeyCommands(devices, run);
  addAcpTokenCommands(program, run);
}
