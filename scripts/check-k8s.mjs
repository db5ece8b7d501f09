// Checks the Kubernetes manifests without a cluster, and decides whether an overlay can be deployed. The checks are in
// k8s/check.
import { resolve } from 'node:path';
import { RenderError, alone, folderProblems, overlays, placeholders } from '../k8s/check/index.mjs';

const usage = `Usage: node scripts/check-k8s.mjs [--deployable] [folder …]

Renders each folder with kubectl kustomize (all overlays of k8s/ unless named) and checks every object: fields against the
tables of Kubernetes 1.36, references, and the policy of this house.
  --deployable   also refuses placeholders, secrets in git, and images without a digest
`;

const options = process.argv.slice(2);
const deployable = options.includes('--deployable');
const unknown = options.filter((option) => option.startsWith('-') && option !== '--deployable' && option !== '--help');
const named = options.filter((option) => !option.startsWith('-')).map((folder) => resolve(folder));

async function check(folder) {
  const { objects, problems } = await folderProblems(folder);
  const all = deployable ? [...problems, ...placeholders(objects)] : problems;
  const name = folder.replace(`${process.cwd()}/`, '');
  console.log(`${all.length === 0 ? 'ok  ' : 'FAIL'} ${name}: ${objects.length} objects`);
  for (const problem of all) console.log(`     ${problem}`);
  return all.length === 0;
}

if (options.includes('--help')) {
  process.stdout.write(usage);
} else if (unknown.length > 0) {
  process.stderr.write(`check-k8s: unknown option ${unknown.join(' ')}\n\n${usage}`);
  process.exitCode = 2;
} else {
  try {
    for (const folder of named.length > 0 ? named : [...overlays, ...alone])
      if (!(await check(folder))) process.exitCode = 1;
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
    process.stderr.write(`check-k8s: ${error.message}\n`);
    process.exitCode = 1;
  }
}
