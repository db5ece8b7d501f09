// Starts a PostgreSQL, prints its port, and waits to be killed.
import { startPostgres } from '../../dist/database.js';

const { address } = await startPostgres();
console.log(address.port);
process.stdin.resume();
