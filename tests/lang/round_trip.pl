#!/usr/bin/perl
# round_trip.pl TOOL WORK FILE... - print what is wrong with the texts that
# `lang_tool print` makes of the trees of files: each must be laid out already,
# and compile to the same tree. A file of task types alone has no tree.
#
# The trees are given as the compiler makes them, as the workspace keeps them
# (members in the order of jsonb), and with another comment at each task type:
# then none of them is that of the standard library, and all are printed.
use strict;
use warnings;
use JSON::PP;

my ($tool, $work, @files) = @ARGV;
my $json = JSON::PP->new->canonical->allow_nonref->allow_bignum;
my $stored = JSON::PP->new->allow_nonref->allow_bignum->sort_by(
    sub { length $JSON::PP::a <=> length $JSON::PP::b || $JSON::PP::a cmp $JSON::PP::b });
my $printed = 0;

# outputs COMMAND, OPTIONS, FILE…: what the tool says of each file. If one process
# for all of them ends badly, each gets its own.
sub outputs {
    my ($command, $options, @files) = @_;
    return if !@files;
    open my $in, '-|', $tool, $command, '-0', @$options, @files or die "cannot run $tool: $!\n";
    my $said = do { local $/; <$in> } // '';
    close $in;
    my @texts = $said =~ /([^\0]*)\0/g;
    return @texts if ($? == 0 || $? == 256) && @texts == @files;
    return map { outputs($command, $options, $_) } @files if @files > 1;
    return "$files[0]: error: $command ended with status $?\n";
}

sub keep {
    my ($path, $text) = @_;
    open my $out, '>', $path or die "cannot write $path: $!\n";
    print $out $text;
    close $out or die "cannot write $path: $!\n";
}

# Calls of a workflow that differ get numbers in the text; lines do not count.
sub simplify {
    my ($node) = @_;
    if (ref $node eq 'ARRAY') { simplify($_) for @$node }
    elsif (ref $node eq 'HASH') {
        $node->{workflow} =~ s/_[0-9]+$// if ($node->{kind} // '') eq 'call';
        delete $node->{line};
        simplify($_) for values %$node;
    }
}

sub say_wrong {
    my ($file, $what, $text) = @_;
    print "$file: $what\n$text\n";
}

sub compare {
    my ($file, $one, $two) = @_;
    my %compiled = map { $_->{name} => $_ } @{ $two->{workflows} };
    for my $workflow (@{ $one->{workflows} }) {
        my ($a, $b) = map { $json->encode($_ // '') } $workflow, $compiled{ $workflow->{name} };
        say_wrong($file, "$workflow->{name} is another one", "$a\n$b") if $a ne $b;
    }
    for my $name (keys %{ $one->{task_types} }) {
        my ($a, $b) = map { $json->encode($_->{task_types}{$name} // '') } $one, $two;
        say_wrong($file, "$name is another one", "$a\n$b") if $a ne $b;
    }
}

# Each check gets the text of its tree, its layout and what it compiles to. Checks
# of a file whose texts are equal share the rest.
sub print_trees {
    my @checks = @_;
    my (%path, %layout, %again);
    keep("$work/tree-$_.json", $checks[$_]{tree}) for 0 .. $#checks;
    my @texts = outputs('print', [], map {"$work/tree-$_.json"} 0 .. $#checks);
    for my $n (0 .. $#checks) {
        my ($check, $text) = ($checks[$n], $texts[$n]);
        my ($name) = $check->{file} =~ m{([^/]+)$};
        $check->{text} = $text;
        $check->{path} = $path{ $check->{file} }{$text} //= "$work/$n/$name";
        mkdir $check->{path} =~ s{/[^/]+$}{}r;
        keep($check->{path}, $text);
    }
    my @paths = map { values %$_ } values %path;
    @layout{@paths} = outputs('fmt', [], @paths);
    @again{@paths} = outputs('compile', [], @paths);
    ($_->{layout}, $_->{again}) = ($layout{ $_->{path} }, $again{ $_->{path} }) for @checks;
}

sub check {
    my ($file, $tree, $text, $layout, $again) = @{ $_[0] }{qw(file tree text layout again)};
    return say_wrong($file, 'is not printed', $text) if $text =~ /^\S+: error: /m;
    say_wrong($file, 'is not laid out', $text) if $layout ne $text;
    return say_wrong($file, 'does not compile', $again) if $again !~ /^\{/;
    my ($one, $two) = map { $json->decode($_) } $tree, $again;
    simplify($_) for $one, $two;
    compare($file, $one, $two);
    $printed++;
}

# Cases import from lib/, other files from their own folder.
my @cases = grep { m{/lang/good/} } @files;
my @others = grep { !m{/lang/good/} } @files;
my @trees = (outputs('compile', ['-I', 'lib', '-L', 'lib'], @cases),
    outputs('compile', ['-L', 'lib'], @others));
my @checks;
for my $file (@cases, @others) {
    my $tree = shift @trees;
    next if $tree =~ /A file of task types is a library/;
    if ($tree !~ /^\{/) { say_wrong($file, 'does not compile', $tree); next }
    my $parsed = $json->decode($tree);
    push @checks, { file => $file, tree => $tree };
    push @checks, { file => $file, tree => $stored->encode($parsed) };
    $_->{doc} = 'Another comment.' for values %{ $parsed->{task_types} };
    push @checks, { file => $file, tree => $stored->encode($parsed) };
}
print_trees(@checks);
check($_) for @checks;
print "nothing was printed\n" if !$printed;
