import StrataModel
import TestSupport
import Testing

@Suite("Writing a schema")
struct SchemaWritingTests {
    @Test("It is written in the form of the service's own exports, sorted")
    func layout() throws {
        let schema = SchemaDefinition(
            roles: ["Readers", "Editors"],
            recordTypes: [
                .init("Task"),
                .init(
                    "Note",
                    fields: [
                        .init("title", .string, indexes: [.sortable, .searchable, .queryable]),
                        .init("grant", FieldKind.int64.list), .init("secret", .data, isEncrypted: true),
                        .init("notes", FieldKind.string.list, isEncrypted: true),
                        .init("___recordID", .reference, indexes: .queryable),
                    ],
                    grants: [
                        SchemaGrant("_world", .read), SchemaGrant("Writers", .write), SchemaGrant("_world", .write),
                    ]),
            ])
        #expect(
            schema.text == """
                DEFINE SCHEMA

                    CREATE ROLE Editors;

                    CREATE ROLE Readers;

                    CREATE ROLE Writers;

                    RECORD TYPE Note (
                        "___recordID" REFERENCE QUERYABLE,
                        "grant"       LIST<INT64>,
                        notes         LIST<ENCRYPTED STRING>,
                        secret        ENCRYPTED BYTES,
                        title         STRING QUERYABLE SEARCHABLE SORTABLE,
                        GRANT WRITE TO Writers,
                        GRANT READ, WRITE TO "_world"
                    );

                    RECORD TYPE Task (
                    );

                """)
    }

    @Test("What is written reads back as the same, sorted, and is written the same again")
    func roundTrip() throws {
        var sizes = Set<Int>()
        try withSeeds(300) { seed in
            var dice = SeededGenerator(seed: seed)
            let schema = Self.random(&dice)
            let again = try SchemaDefinition(reading: schema.text)
            try #require(again == schema.sorted)
            try #require(again.text == schema.text)
            try #require(Self.shuffled(schema, &dice).text == schema.text)
            sizes.insert(schema.recordTypes.reduce(0) { $0 + $1.fields.count })
        }
        #expect(sizes.count > 10, "canary: the schemas differ")
    }

    private static let kinds: [FieldKind] = {
        let scalars: [FieldKind] = [.string, .int64, .double, .date, .data, .location, .reference, .asset]
        return scalars + scalars.map(\.list)
    }()

    private static func name(_ dice: inout SeededGenerator) -> String {
        let reserved = ["grant", "Queryable", "list", "record", "type", "encrypted"]
        if dice.next(below: 6) == 0 { return reserved[dice.next(below: reserved.count)] }
        let letters = Array("abcXYZ019_")
        let count = dice.next(below: 4) == 0 ? 60 : 6
        return "n" + String((0..<dice.next(below: count)).map { _ in letters[dice.next(below: letters.count)] })
    }

    private static func random(_ dice: inout SeededGenerator) -> SchemaDefinition {
        var schema = SchemaDefinition(roles: Array(Set((0..<dice.next(below: 4)).map { _ in name(&dice) })))
        for typeName in Set((0..<dice.next(below: 6)).map({ _ in name(&dice) })) {
            var type = SchemaDefinition.RecordType(typeName)
            for fieldName in Set((0..<dice.next(below: 12)).map({ _ in name(&dice) })) {
                let kind = kinds[dice.next(below: kinds.count)]
                let canBeEncrypted = ![.reference, .asset].contains(kind.element)
                let isEncrypted = canBeEncrypted && dice.next(below: 4) == 0
                let indexes = SchemaField.Indexes(rawValue: UInt8(dice.next(below: 8)))
                type.fields.append(
                    .init(
                        fieldName, kind, isEncrypted: isEncrypted,
                        indexes: indexes.intersection(kind.possibleIndexes(isEncrypted: isEncrypted))))
            }
            for field in SchemaName.systemFields where dice.next(below: 2) == 0 {
                let isQueryable = dice.next(below: 2) == 0
                type.fields.append(.init(field.name, field.kind, indexes: isQueryable ? .queryable : []))
            }
            let roles = SchemaName.systemRoles + schema.roles
            for _ in 0..<dice.next(below: 5) {
                let permissions = SchemaGrant.Permissions(rawValue: UInt8(dice.next(below: 8)))
                type.grants.append(SchemaGrant(roles[dice.next(below: roles.count)], permissions))
            }
            schema.recordTypes.append(type)
        }
        return schema
    }

    private static func shuffled(_ schema: SchemaDefinition, _ dice: inout SeededGenerator) -> SchemaDefinition {
        var schema = schema
        schema.roles.shuffle(using: &dice)
        schema.recordTypes.shuffle(using: &dice)
        for index in schema.recordTypes.indices {
            schema.recordTypes[index].fields.shuffle(using: &dice)
            schema.recordTypes[index].grants.shuffle(using: &dice)
        }
        return schema
    }
}
