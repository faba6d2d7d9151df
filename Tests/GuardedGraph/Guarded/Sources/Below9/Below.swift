public let below9 = 9
