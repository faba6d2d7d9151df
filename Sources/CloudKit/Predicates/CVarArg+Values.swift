import Foundation

// On Apple's platforms every object can be a format argument, and Swift's values bridge to objects. Here the types
// conform explicitly, since programs write `NSPredicate(format: "creationDate > %@", date as CVarArg)`. A predicate
// uses the value itself; the encoding is for `String(format:)`.

/// A format argument that is encoded as a text which describes it.
private protocol DescribedArgument: CVarArg {}

extension DescribedArgument {
    /// The address of a text that describes the value. The text is never freed, since a format can be read at any time.
    public var _cVarArgEncoding: [Int] {
        let text = NSString(string: String(describing: self))
        return [Int(bitPattern: Unmanaged.passRetained(text).toOpaque())]
    }
}

extension Date: @retroactive CVarArg, DescribedArgument {}
extension Data: @retroactive CVarArg, DescribedArgument {}
extension UUID: @retroactive CVarArg, DescribedArgument {}
extension URL: @retroactive CVarArg, DescribedArgument {}
extension Array: @retroactive CVarArg, DescribedArgument {}
extension Dictionary: @retroactive CVarArg, DescribedArgument {}
extension Set: @retroactive CVarArg, DescribedArgument {}
extension Decimal: @retroactive CVarArg, DescribedArgument {}
extension NSArray: @retroactive CVarArg, DescribedArgument {}
extension NSDictionary: @retroactive CVarArg, DescribedArgument {}
extension NSSet: @retroactive CVarArg, DescribedArgument {}
extension NSNumber: @retroactive CVarArg, DescribedArgument {}
extension NSDate: @retroactive CVarArg, DescribedArgument {}
extension NSData: @retroactive CVarArg, DescribedArgument {}
extension NSUUID: @retroactive CVarArg, DescribedArgument {}
extension NSURL: @retroactive CVarArg, DescribedArgument {}
extension NSNull: @retroactive CVarArg, DescribedArgument {}
