import Foundation

// On Apple's platforms every object can be a format argument, and Swift's values bridge to objects. Here the types
// conform explicitly, since programs write `NSPredicate(format: "creationDate > %@", date as CVarArg)`. A predicate
// uses the value itself; the encoding is for `String(format:)`.

extension Date: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension Data: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension UUID: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension URL: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension Array: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension Dictionary: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension Set: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension Decimal: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension NSArray: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension NSDictionary: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension NSSet: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension NSNumber: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension NSDate: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension NSData: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension NSUUID: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension NSURL: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

extension NSNull: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { descriptionEncoding(of: self) }
}

/// Returns the address of a text that describes a value. The text is never freed, since a format can be read at any
/// time.
private func descriptionEncoding(of value: some Any) -> [Int] {
    let text = NSString(string: String(describing: value))
    return [Int(bitPattern: Unmanaged.passRetained(text).toOpaque())]
}
