import tseslint from 'typescript-eslint';

/** The first comment of a file describes the file: a block, which tools show. */
const fileHead = {
  create: ({ sourceCode, report }) => ({
    Program(node) {
      const [first] = sourceCode.getAllComments();
      const before = sourceCode.getTokenBefore(first ?? node);
      if (first?.type === 'Line' && before === null && sourceCode.text.slice(0, first.range[0]).trim() === '')
        report({ loc: first.loc, message: 'Begin a file with `/** Its purpose. */`.' });
    },
  }),
};

const otherTier =
  'Name a test that starts a program `*.machine.test.ts`, or `*.house.test.ts` when it is about the repository.';
/** Functions of `@relay/testing` that start a program. */
const starters = [
  'startCluster',
  'startHaproxy',
  'startPgBouncer',
  'startPostgres',
  'startProgram',
  'startRelayProcess',
  'runProgram',
];

/** Constants have names like other values, except environment variables. */
const shouted = { regex: '^[A-Z][A-Z0-9_]+$', match: false };
const ofTheEnvironment = '^(AUTH_[A-Z_]+|DATABASE_URL|PGLITE_DIR)$';

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      '**/src/generated/**',
      '**/node_modules/**',
      '**/*.mjs',
      '**/*.js',
      '**/*.cjs',
      'prisma.config.ts',
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: { project: ['./tsconfig.json', './apps/web/tsconfig.json'], tsconfigRootDir: import.meta.dirname },
    },
    plugins: { relay: { rules: { 'file-head': fileHead } } },
    rules: {
      'relay/file-head': 'error',
      'no-duplicate-imports': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/naming-convention': [
        'error',
        { selector: 'variable', modifiers: ['destructured'], format: null },
        { selector: 'variable', filter: ofTheEnvironment, format: null },
        { selector: 'variable', format: null, custom: shouted },
      ],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: 'error',
    },
  },
  {
    // Foreign text reaches a terminal through one file (tests/terminal-doors.test.ts).
    files: ['apps/{cli,daemon}/src/**/*.ts', 'packages/{daemon-kit,machine}/src/**/*.ts'],
    ignores: [
      'packages/machine/src/terminal.ts',
      // A separate tool for authors of daemons.
      'packages/daemon-kit/src/conformance/**',
    ],
    rules: {
      'no-console': 'error',
      'no-restricted-imports': ['error', 'node:console', 'console', 'node:process', 'process', 'node:tty', 'tty'],
      'no-restricted-syntax': [
        'error',
        ...[
          'MemberExpression[object.name=process][property.name=/^std(out|err)$/]',
          'MemberExpression[object.name=process][computed=true]',
          'VariableDeclarator[init.name=process]',
          'Literal[value=inherit]',
          'Literal[value=/^\\u002fdev\\u002f(tty|std|fd)/]',
        ].map((selector) => ({
          selector,
          message: 'Write through the Terminal: it makes text of strangers harmless.',
        })),
      ],
    },
  },
  {
    // A unit test stays within one process (scripts/tiers.mjs).
    files: ['**/*.test.ts'],
    ignores: ['**/*.machine.test.ts', '**/*.house.test.ts', 'tests/browser/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            ...['node:child_process', '@relay/testing/needs', '@relay/testing/redis'].map((name) => ({
              name,
              message: otherTier,
            })),
            ...['@relay/testing', '@relay/testing/database'].map((name) => ({
              name,
              importNames: starters,
              message: otherTier,
            })),
          ],
        },
      ],
    },
  },
  {
    // A reader takes in a function at once, and a file has one subject. Blank lines and comments count.
    files: ['{apps,packages}/*/src/**/*.{ts,tsx}'],
    rules: { 'max-lines-per-function': ['error', 150], 'max-lines': ['error', 400] },
  },
  {
    // Tests read responses of every shape; a wrong access fails the test.
    files: ['**/*.test.ts', '**/*.cluster.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
    },
  },
);
