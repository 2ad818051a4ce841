// Compiles Token.sol to Token.bin: run by `make contracts`, with solc from npm.
// Without metadata hash and CBOR the bytes are the same on every machine.
const fs = require('fs');
const path = require('path');
const solc = require('solc');

const source = fs.readFileSync(path.join(__dirname, 'Token.sol'), 'utf8');
const out = JSON.parse(solc.compile(JSON.stringify({
  language: 'Solidity',
  sources: { 'Token.sol': { content: source } },
  settings: {
    optimizer: { enabled: true, runs: 200 },
    evmVersion: 'shanghai',
    metadata: { bytecodeHash: 'none', appendCBOR: false },
    outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
  },
})));
for (const e of out.errors || []) console.error(e.formattedMessage);
const token = out.contracts && out.contracts['Token.sol'] && out.contracts['Token.sol'].Token;
if (!token) process.exit(1);
fs.writeFileSync(path.join(__dirname, 'Token.bin'), token.evm.bytecode.object + '\n');
