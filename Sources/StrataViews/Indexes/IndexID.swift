import StrataModel

/// Identifies an index of a field or system field of a record type (docs/format-keys.md §6).
package struct IndexID: Hashable, Sendable, Comparable {
    /// The subject of an index. A field of the record has its ordinal + 16.
    package struct Subject: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt64
        package init(rawValue: UInt64) { self.rawValue = rawValue }

        /// The existence of the record, for all records of a type.
        package static let membership = Self(rawValue: 1)
        package static let created = Self(rawValue: 2)
        package static let modified = Self(rawValue: 3)
        package static let createdBy = Self(rawValue: 4)
        package static let modifiedBy = Self(rawValue: 5)
        package static let parent = Self(rawValue: 6)

        package static func field(_ ordinal: UInt32) -> Self { Self(rawValue: UInt64(ordinal) + 16) }

        /// The ordinal of the field; nil if the subject is not a field of the record.
        package var field: UInt32? { rawValue > 16 ? UInt32(exactly: rawValue - 16) : nil }
    }

    package enum Form: UInt8, Sendable, CaseIterable {
        /// A row for each value, in order.
        case ordered = 1
        /// A row for each word of a text.
        case words
        /// A row for each place, by the cell of the earth that contains it.
        case cells
    }

    package var type: UInt64
    package var subject: Subject
    package var form: Form

    package init(type: UInt64, _ subject: Subject, _ form: Form = .ordered) {
        self.type = type
        self.subject = subject
        self.form = form
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.type, left.subject.rawValue, left.form.rawValue)
            < (right.type, right.subject.rawValue, right.form.rawValue)
    }

    var key: [UInt8] {
        var key = KeyWriter()
        key.append(number: type)
        key.append(number: subject.rawValue)
        key.append(byte: form.rawValue)
        return key.bytes
    }

    init(key: UnsafeRawBufferPointer) throws {
        var reader = KeyReader(key)
        type = try reader.readNumber()
        subject = Subject(rawValue: try reader.readNumber())
        let number = try reader.readByte()
        guard let form = Form(rawValue: number) else {
            throw StrataError(
                .malformed, "An index has an unknown form.", .init(expected: "1 to 3", found: "\(number)"))
        }
        self.form = form
    }
}

/// The progress of an index: a row of the catalog of indexes.
package enum IndexProgress: Hashable, Sendable {
    /// The rows of the records up to a key are there, and none of others. The key is empty before the first record.
    /// Queries do without the index.
    case building(upTo: [UInt8])
    case ready
    /// The schema no longer requires the index; its rows are being removed.
    case leaving
    /// The schema requires the index again; it is built once the rows of its earlier life are removed.
    case returning

    var row: [UInt8] {
        switch self {
        case .ready: [1]
        case .building(upTo: let last): [2] + last
        case .leaving: [3]
        case .returning: [4]
        }
    }

    init(row: UnsafeRawBufferPointer) throws {
        var reader = ByteReader(row)
        let number = try reader.read(UInt8.self, "the progress of an index")
        switch number {
        case 1: self = .ready
        case 2: self = .building(upTo: [UInt8](row.dropFirst()))
        case 3: self = .leaving
        case 4: self = .returning
        default: throw reader.malformed("the progress of an index", expected: "1 to 4", found: "\(number)")
        }
    }
}
