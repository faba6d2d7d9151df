/// What the service does on behalf of a user in Settings, in the database that the request names.
public enum AdministerRequest: Sendable, Hashable {
    /// Ends a zone, an ordinal of the request's own names.
    case purgeZone(UInt64)
    /// Ends every custom zone that holds encrypted values.
    case resetEncryptedData

    func encode(into writer: inout ByteWriter) {
        switch self {
        case .purgeZone(let zone):
            writer.append(1 as UInt8)
            writer.appendVarint(zone)
        case .resetEncryptedData: writer.append(2 as UInt8)
        }
        writer.appendVarint(0)
    }

    init(from reader: inout ByteReader) throws {
        let number = try reader.read(UInt8.self, "what is to be done")
        switch number {
        case 1: self = .purgeZone(try reader.readVarint("a zone"))
        case 2: self = .resetEncryptedData
        default: throw StrataError.newer("what is to be done", number, reader)
        }
        var fields = try KeyedFields(from: &reader, "the fields of a request")
        try fields.skipAll()
    }
}
