/// The event that states the rules under which requests are judged from its commit on.
package struct RulesStatedEvent: StatedEvent {
    package static let kind = EventKind.rulesStated
    package static let shownFields = ShownFields<Self> {
        Shown("itemsPerRequest", "the most items of a request", after: "items ") { $0.limits.itemsPerRequest }
        Shown("maximumRequestBytes", "the most bytes of a request", after: ", bytes of a request ") {
            $0.limits.requestBytes
        }
        Shown("maximumRecordBytes", "the most bytes of a record", after: ", of a record ") { $0.limits.recordBytes }
        Shown("maximumAssetBytes", "the most bytes of an asset", after: ", of an asset ") { $0.limits.assetBytes }
        Shown("owningReferences", "the most references that may own one record", after: ", owning references ") {
            $0.limits.owningReferences
        }
        Shown("movedRecords", "the most records that a request moves to another share", after: ", moved records ") {
            $0.limits.movedRecords
        }
        Shown("policies", "those in force, separated by commas, may be empty", after: "; ") { $0.policies.names }
    }

    package struct Limits: Sendable, Hashable {
        package var itemsPerRequest: UInt64
        package var requestBytes: UInt64
        package var recordBytes: UInt64
        package var owningReferences: UInt64
        package var movedRecords: UInt64
        package var assetBytes: UInt64

        package init(
            itemsPerRequest: UInt64, requestBytes: UInt64, recordBytes: UInt64, owningReferences: UInt64,
            movedRecords: UInt64, assetBytes: UInt64
        ) {
            self.itemsPerRequest = itemsPerRequest
            self.requestBytes = requestBytes
            self.recordBytes = recordBytes
            self.owningReferences = owningReferences
            self.movedRecords = movedRecords
            self.assetBytes = assetBytes
        }
    }

    /// The rules that a store can choose. Their bits are on disk.
    package struct Policies: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Saving a child gives its parent a new change tag (B61).
        package static let touchesParents = Policies(rawValue: 1)
        /// Saves must not extend the schema (B24).
        package static let enforcesSchema = Policies(rawValue: 2)
        /// A record type that was never saved is an error (B142).
        package static let unknownTypesAreErrors = Policies(rawValue: 4)
        /// Predicates may use more than CloudKit's (B124).
        package static let extendsPredicates = Policies(rawValue: 8)

        fileprivate var names: String {
            let known: [(Self, String)] = [
                (.touchesParents, "touches parents"), (.enforcesSchema, "enforces the schema"),
                (.unknownTypesAreErrors, "unknown types are errors"), (.extendsPredicates, "extends predicates"),
            ]
            return known.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
        }

        static let all: Policies = [.touchesParents, .enforcesSchema, .unknownTypesAreErrors, .extendsPredicates]
    }

    package var limits: Limits
    package var policies: Policies
    package var original: Version?

    package init(_ limits: Limits, _ policies: Policies, original: Version? = nil) {
        self.limits = limits
        self.policies = policies
        self.original = original
    }

    package func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(limits.itemsPerRequest)
        writer.appendVarint(limits.requestBytes)
        writer.appendVarint(limits.recordBytes)
        writer.appendVarint(limits.owningReferences)
        writer.appendVarint(limits.movedRecords)
        writer.appendVarint(limits.assetBytes)
        writer.append(policies.rawValue)
        writer.appendFields(original: original)
    }

    package init(from reader: inout ByteReader) throws {
        limits = Limits(
            itemsPerRequest: try reader.readVarint("the items of a request"),
            requestBytes: try reader.readVarint("the bytes of a request"),
            recordBytes: try reader.readVarint("the bytes of a record"),
            owningReferences: try reader.readVarint("the owning references"),
            movedRecords: try reader.readVarint("the moved records"),
            assetBytes: try reader.readVarint("the bytes of an asset"))
        let bits = try reader.read(UInt8.self, "the policies")
        policies = Policies(rawValue: bits)
        guard policies.isSubset(of: .all) else { throw StrataError.newer("the policies", bits, reader) }
        original = try reader.readOriginal()
    }
}
