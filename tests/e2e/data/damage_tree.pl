#!/usr/bin/perl
# damage_tree.pl SEED COPIES FILE… - trees that nobody compiled: copies of compiled
# trees with parts left out, doubled, exchanged, or replaced by parts of others. One
# line for each: its number, a tab, the tree; the same ones for the same seed.
use strict;
use warnings;
use JSON::PP;

my ($seed, $copies, @files) = @ARGV;
my $json = JSON::PP->new->canonical->allow_nonref->allow_bignum;
my @atoms = map { $json->encode($json->decode($_)) } ('null', 'true', '0', '-1', '1e300', '""', '"x"', '"1s"', '[]', '{}',
    '["var","nosuch"]', '["secret","t"]', '["text",["var","response"]]', '["call","sh","x"]', '["list"]', '"\u0000"',
    '["const",{"a":1}]', '"a.b"', '{"kind":"return","line":1}', '2147483648', '["instance","id"]');
my (@trees, @parts);
srand $seed;

# Each place in a tree: what holds it, and its key or index there.
sub places {
    my ($node, $found) = @_;
    my @keys = ref $node eq 'HASH' ? sort keys %$node : ref $node eq 'ARRAY' ? 0 .. $#$node : ();
    for my $key (@keys) {
        push @$found, [$node, $key];
        places(ref $node eq 'HASH' ? $node->{$key} : $node->[$key], $found);
    }
    return $found;
}

sub value { my ($node, $key) = @_; return ref $node eq 'HASH' ? $node->{$key} : $node->[$key] }

sub put {
    my ($node, $key, $value) = @_;
    if (ref $node eq 'HASH') { $node->{$key} = $value } else { $node->[$key] = $value }
}

sub damage {
    my $tree  = shift;
    my $all   = places($tree, []);
    my ($one, $two) = map { $all->[rand @$all] } 1 .. 2;
    my ($node, $key) = @$one;
    my $how = int rand 6;
    if ($how == 0) { ref $node eq 'HASH' ? delete $node->{$key} : splice @$node, $key, 1 }
    elsif ($how == 1 && ref $node eq 'ARRAY') { splice @$node, $key, 0, $json->decode($json->encode($node->[$key])) }
    elsif ($how == 1) { $node->{ $key . 'x' } = delete $node->{$key} }
    elsif ($how == 2) { put($node, $key, $json->decode($atoms[rand @atoms])) }
    elsif ($how == 3) { put($node, $key, $json->decode($parts[rand @parts])) }
    elsif ($how == 4) { put($node, $key, $json->decode($json->encode(value(@$two)))) }
    else { $node->{ (map { ref $_->[0] eq 'HASH' ? $_->[1] : 'as' } $two)[0] } = $json->decode($parts[rand @parts]) if ref $node eq 'HASH' }
}

for my $file (@files) {
    open my $in, '<', $file or die "cannot read $file: $!\n";
    my $text = do { local $/; <$in> };
    push @trees, $text;
    push @parts, map { $json->encode(value(@$_)) } @{ places($json->decode($text), []) };
}
@parts = grep { length $_ < 2000 } @parts;
for my $copy (1 .. $copies) {
    my $tree = $json->decode($trees[rand @trees]);
    damage($tree) for 1 .. 1 + int rand 2;
    print "$copy\t", $json->encode($tree), "\n";
}
