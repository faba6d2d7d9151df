import Foundation

// On Apple's platforms every object can be an argument of a format, such as a predicate's; here a class says so.
extension CVarArg where Self: NSObject {
    public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}
