import Foundation

extension NSKeyedUnarchiver {
    /// Decodes an array of objects of a class.
    public static func unarchivedArrayOfObjects<Object: NSObject & NSCoding>(
        ofClass type: Object.Type, from data: Data
    ) throws -> [Object]? {
        try checked(unarchivedObject(ofClasses: [NSArray.self, type], from: data))
    }

    /// Decodes a dictionary whose keys and values are objects of a class each.
    public static func unarchivedDictionary<Key: NSObject & NSCoding, Object: NSObject & NSCoding>(
        ofKeyClass keyType: Key.Type, objectClass type: Object.Type, from data: Data
    ) throws -> [Key: Object]? {
        try checked(unarchivedObject(ofClasses: [NSDictionary.self, keyType, type], from: data))
    }

    /// - Throws: `coderReadCorrupt` for an object of another type: Foundation decodes elements of any class here.
    private static func checked<Value>(_ object: Any?) throws -> Value? {
        guard let object else { return nil }
        guard let value = object as? Value else { throw CocoaError(.coderReadCorrupt) }
        return value
    }
}
