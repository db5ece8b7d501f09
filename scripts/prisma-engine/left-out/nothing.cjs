// At its start, the Prisma CLI loads three packages that this project does not use: the servers of `prisma dev` and
// `prisma studio`, and the download of a native engine. The CLI needs only the name of that engine.
module.exports = { BinaryType: { SchemaEngineBinary: 'schema-engine' } };
