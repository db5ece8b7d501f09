// Prisma tries two shapes for the value that prisma.config.ts exports: a plain object, then the value of its own
// `defineConfig`. This stand-in refuses the first shape, and recognises the second by a mark. So the file must call
// `defineConfig`.
const left = (error) => ({ _tag: 'Left', left: error });
const right = (value) => ({ _tag: 'Right', right: value });
const isLeft = ({ _tag }) => _tag === 'Left';
const flatMap = (next) => (either) => (isLeft(either) ? either : next(either.right));

exports.Either = {
  left,
  right,
  isLeft,
  flatMap,
  map: (change) => flatMap((value) => right(change(value))),
  orElse: (other) => (either) => (isLeft(either) ? other(either.left) : either),
};

const shape = () => ({ fields: {}, make: (value) => ({ ...value }) });
exports.Schema = {
  ...{ Struct: shape, optional: shape, NullOr: shape, Array: shape, mutable: shape },
  decodeUnknownEither: () => () => left(new Error('prisma.config.ts must export the value of defineConfig.')),
};

exports.pipe = (value, ...steps) => steps.reduce((before, step) => step(before), value);
