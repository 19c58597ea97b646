'use strict';
// AMQP values as rhea holds them, to and from the notation of the peers (see ../peers/proton_values.py).

const rhea = require('rhea');

const types = rhea.types;

const AMQP_VALUE = 0x77;
const DATA = 0x75;

const NAMES = {
    0x40: 'null', 0x56: 'boolean', 0x41: 'boolean', 0x42: 'boolean', 0x50: 'ubyte', 0x60: 'ushort',
    0x70: 'uint', 0x52: 'uint', 0x43: 'uint', 0x80: 'ulong', 0x53: 'ulong', 0x44: 'ulong', 0x51: 'byte', 0x61: 'short',
    0x71: 'int', 0x54: 'int', 0x81: 'long', 0x55: 'long', 0x72: 'float', 0x82: 'double',
    0x74: 'decimal32', 0x84: 'decimal64', 0x94: 'decimal128', 0x73: 'char', 0x83: 'timestamp', 0x98: 'uuid',
    0xa0: 'binary', 0xb0: 'binary', 0xa1: 'string', 0xb1: 'string', 0xa3: 'symbol', 0xb3: 'symbol',
    0x45: 'list', 0xc0: 'list', 0xd0: 'list', 0xc1: 'map', 0xd1: 'map', 0xe0: 'array', 0xf0: 'array',
};

// The widest encoding of each type, which every value of an array of it fits.
const ELEMENT_CODES = {
    boolean: 0x56, ubyte: 0x50, ushort: 0x60, uint: 0x70, ulong: 0x80, byte: 0x51, short: 0x61, int: 0x71, long: 0x81,
    float: 0x72, double: 0x82, decimal32: 0x74, decimal64: 0x84, decimal128: 0x94, char: 0x73, timestamp: 0x83,
    uuid: 0x98, binary: 0xb0, string: 0xb1, symbol: 0xb3, list: 0xd0, map: 0xd1,
};

function hex(buffer) {
    return Buffer.from(buffer).toString('hex');
}

function eightOctets(number) {
    const buffer = Buffer.alloc(8);
    buffer.writeBigUInt64BE(BigInt.asUintN(64, BigInt(number)));
    return buffer;
}

function ieee(number, size) {
    const buffer = Buffer.alloc(size);
    if (size === 4) buffer.writeFloatBE(number);
    else buffer.writeDoubleBE(number);
    return hex(buffer);
}

function signed(value) {
    return Buffer.isBuffer(value) ? value.readBigInt64BE().toString() : BigInt(value).toString();
}

function unsigned(value) {
    return Buffer.isBuffer(value) ? value.readBigUInt64BE().toString() : BigInt(value).toString();
}

function pairs(flat) {
    const result = [];
    for (let i = 0; i < flat.length; i += 2) result.push([notation(flat[i]), notation(flat[i + 1])]);
    return result;
}

// The content of a value in the notation: what follows the name of its type.
function content(name, value, constructor) {
    switch (name) {
    case 'null': return [];
    case 'boolean': return [Boolean(value)];
    case 'ulong': return [unsigned(value)];
    case 'long': return [signed(value)];
    case 'timestamp': return [signed(value.getTime())];
    case 'float': return [ieee(value, 4)];
    case 'double': return [ieee(value, 8)];
    case 'decimal32': case 'decimal64': case 'decimal128': case 'uuid': case 'binary': return [hex(value)];
    case 'string': case 'symbol': return [value];
    case 'list': return [value.map(notation)];
    case 'map': return [pairs(value)];
    case 'array': return array(value, constructor);
    default: return [String(value)];
    }
}

function array(elements, constructor) {
    const name = NAMES[constructor.typecode];
    const descriptor = constructor.descriptor ? notation(constructor.descriptor) : null;
    return [name, descriptor, elements.map((one) => content(name, one.value, one.array_constructor))];
}

function notation(typed) {
    const name = NAMES[typed.type.typecode];
    const plain = [name, ...content(name, typed.value, typed.array_constructor)];
    return typed.descriptor ? ['described', notation(typed.descriptor), plain] : plain;
}

// What rhea's writer takes as the value of a type, without the type.
function raw(name, value) {
    switch (name) {
    case 'ulong': case 'long': case 'timestamp': return eightOctets(value);
    case 'float': return Buffer.from(value, 'hex').readFloatBE();
    case 'double': return Buffer.from(value, 'hex').readDoubleBE();
    case 'decimal32': case 'decimal64': case 'decimal128': case 'uuid': case 'binary': return Buffer.from(value, 'hex');
    case 'boolean': case 'string': case 'symbol': return value;
    case 'list': return value.map(typed);
    case 'map': return value.flat().map(typed);
    default: return Number(value);
    }
}

function typed(value) {
    const [name, ...rest] = value;
    switch (name) {
    case 'null': return types.wrap(null);
    case 'described': return types.described(typed(rest[0]), typed(rest[1]));
    case 'list': return rest[0].length ? types.List32(raw(name, rest[0])) : types.List0();
    case 'map': return types.Map32(raw(name, rest[0]));
    case 'array': return typedArray(...rest);
    case 'decimal32': return types.Decimal32(raw(name, rest[0]));
    case 'decimal64': return types.Decimal64(raw(name, rest[0]));
    case 'decimal128': return types.Decimal128(raw(name, rest[0]));
    default: return types['wrap_' + name](raw(name, rest[0]));
    }
}

function typedArray(element, descriptor, contents) {
    const code = ELEMENT_CODES[element];
    if (!code) throw new Error('rhea cannot encode an array of ' + element);
    return types.wrap_array(contents.map((one) => raw(element, one[0])), code, descriptor ? typed(descriptor) : undefined);
}

// A message whose body is one amqp-value section.
function encodeMessage(value) {
    const writer = new types.Writer();
    writer.write(typed(value));
    return Buffer.concat([Buffer.from([0x00, 0x53, AMQP_VALUE]), writer.toBuffer()]);
}

// A message whose body is one data section.
function dataMessage(octets) {
    const head = Buffer.from([0x00, 0x53, DATA, 0xb0, 0, 0, 0, 0]);
    head.writeUInt32BE(octets.length, 4);
    return Buffer.concat([head, octets]);
}

// The value of a message's amqp-value section in the notation, or the octets of its data sections.
function bodyOf(message) {
    const reader = new types.Reader(message);
    const octets = [];
    while (reader.remaining()) {
        // Section by section, because rhea keeps only the outermost of two descriptors.
        const constructor = reader.read_constructor();
        const [section, inner] = constructor.descriptors || [constructor.descriptor];
        const value = reader.read_value(types.by_code[constructor.typecode]);
        if (section.value === AMQP_VALUE) {
            return inner ? ['described', notation(inner), notation(value)] : notation(value);
        }
        if (section.value === DATA) octets.push(value.value);
    }
    return Buffer.concat(octets);
}

module.exports = { bodyOf, dataMessage, encodeMessage, typed };
