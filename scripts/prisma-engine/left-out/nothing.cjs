// The Prisma CLI loads its development server at the start and uses it for `prisma dev` alone.
module.exports = {};
